-- Prefix postings of exact set similarity (EXACT_INDEX): of each set the first features in the order of features. A value
-- is 42 bits of the feature, 11 of the size of the set and 11 of the position of the feature, both in buckets. The
-- setting exact_index says for which least threshold the postings of all sets are there; without it there are none
-- to be relied on. Feature 0 stands for every feature: of these sets no text was kept.
INSERT INTO posting_kind VALUES (23, 'shingle', 0, 8), (24, 'token', 0, 8);

-- The features that stand last in the order, the most frequent one at the end; all others stand before, by value.
CREATE TABLE frequent_feature (
  slot INTEGER NOT NULL,
  rank INTEGER NOT NULL,
  feature INTEGER NOT NULL,
  PRIMARY KEY (slot, rank)
) STRICT, WITHOUT ROWID;

-- Sizes and positions below 1024 are exact, others the least of their bucket.
CREATE VIEW feature_posting AS
WITH encoded AS (
  SELECT run, kind, number, json_extract('0x' || substr(value, 1, 8), '$') AS high,
    json_extract('0x' || substr(value, 9), '$') AS low
  FROM posting WHERE slot IN (23, 24)
), bucketed AS (
  SELECT run, kind, (high << 10) | (low >> 22) AS feature, (low >> 11) & 2047 AS size, low & 2047 AS place, number
  FROM encoded
)
SELECT run, kind, feature,
  CASE WHEN size < 1024 THEN size ELSE (64 + (size & 63)) << (((size - 1024) >> 6) + 4) END AS size,
  CASE WHEN place < 1024 THEN place ELSE (64 + (place & 63)) << (((place - 1024) >> 6) + 4) END AS position,
  number AS set_no
FROM bucketed;
