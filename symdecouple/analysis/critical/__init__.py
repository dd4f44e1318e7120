"""Critical points of decoupled features: found, classified, proved to be all."""
