-- Found by age, so that what is past its retention can be forgotten a little at a time.
CREATE INDEX leases_freed ON leases (free_at) WHERE freed = 1;
