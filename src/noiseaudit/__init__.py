"""noiseaudit: a replication of three studies of differentially private noise."""

__version__ = "0.1.0"
