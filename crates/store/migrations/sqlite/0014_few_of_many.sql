-- In the order in which deliveries are claimed: the first few are found without sorting all that are due. Here the
-- index has it already, because `seq` is the row's own number, which every index ends with.
SELECT 1;
