"""Scripted workers who chat over the real socket: how a study is piloted before people are paid, and our load."""
