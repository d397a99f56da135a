"""noiseaudit: a replication of three studies of differentially private noise."""
