"""The discrete samplers of Canonne, Kamath and Steinke (2020), "CKS20" (arXiv 2004.00010)."""
