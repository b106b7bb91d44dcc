create table t (k string, n int, name string) row format delimited fields terminated by ',' stored as textfile;
load data local inpath 'data.csv' into table t;
insert overwrite local directory 'out'
select a.k, count(*) c, sum(b.n) s, count(distinct a.name) from t a
join (select k, max(n) n from t group by k) b on a.k = b.k group by a.k order by s desc, a.k;
