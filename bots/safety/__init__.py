"""Door 3 of the bots: rows in, a model folder out; turns in, scores out. Imports no Django.

`models.load(folder)` gives a classifier, `models.DEFAULT` is the folder of the one that ships with the project.
"""
