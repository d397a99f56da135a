"""The private ECDF of synthpriv, in our own words, and a hardened one."""

from noiseaudit.dpecdf.ecdf import Columns, DPEcdf, HardenedEcdf, fit_columns

__all__ = ["Columns", "DPEcdf", "HardenedEcdf", "fit_columns"]
