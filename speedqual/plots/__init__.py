"""Figures of analysis results, in seaborn and matplotlib; found through the display registry by the result's class."""
