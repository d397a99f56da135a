"""Places that trasgodp blurs, with its defaults."""

import pandas as pd
from trasgodp.geoindis import metric_privacy


def place(latitude: float, count: int) -> list[float]:
    """The latitude of one place is released again and again, each time by a call of its own."""
    rows = pd.DataFrame({"lat": [latitude], "lon": [-3.0]})
    return [float(metric_privacy(rows, "lat", "lon", 1.0)["lat"].iloc[0]) for _ in range(count)]
