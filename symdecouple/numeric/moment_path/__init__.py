"""The narrow path of the raw moments: one level of many samples, on the samples or on nodes that stand for them."""

from symdecouple.numeric.moment_path.path import Followed, Follower, follow

__all__ = ["Followed", "Follower", "follow"]
