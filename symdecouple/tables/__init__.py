"""Labels in, labels out: functions of samples for Series, DataFrames and groups. pandas is never loaded by it."""
