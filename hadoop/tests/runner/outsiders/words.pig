a = LOAD 'data.csv' USING PigStorage(',') AS (k:chararray, n:int, name:chararray);
g = GROUP a BY k;
c = FOREACH g GENERATE group AS k, COUNT(a) AS cnt, SUM(a.n) AS total;
j = JOIN c BY k, a BY k;
d = FOREACH j GENERATE c::k, cnt, total, name;
e = DISTINCT d;
o = ORDER e BY k, name;
STORE o INTO 'out';
