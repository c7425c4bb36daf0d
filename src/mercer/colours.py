"""Colours that everybody can tell apart: of pictures and of worked solutions."""

COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#7F7F7F", "#8C564B", "#B8A800", "#332288")
"""Okabe and Ito's, which colour-blind eyes tell apart, and four more for the rare cases."""
