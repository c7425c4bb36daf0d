"""Worked solutions on paper and screen: one file per format."""
