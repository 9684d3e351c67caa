"""One file an issue. A file here is all it takes: ISSUE (its short name), TITLE, and `Check(settings)`, which is a
`results.Check`. Where two files share an issue, the one with PREFERRED is used unless the other is asked for.
"""
