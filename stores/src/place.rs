//! Names of stores: `s3://BUCKET/KEY` and the others, cut into scheme, host and path.

use crate::failure::{Outcome, usage};

/// Kind of a store.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Kind {
    S3,
    Gs,
    Az,
    Http,
    Hdfs,
}

/// Name in a store.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Place {
    pub kind: Kind,
    /// As the user wrote it.
    pub scheme: String,
    /// Bucket, container or host, with its port.
    pub host: String,
    /// Without a slash at its ends.
    pub path: String,
    /// Query of an address of HTTP.
    pub query: Option<String>,
}

impl Place {
    /// Cuts a name. Fails with `Usage` for a name without a bucket or with a password.
    pub fn parse(url: &str) -> Outcome<Place> {
        let (scheme, rest) = url.split_once(':').ok_or_else(|| usage(format!("no address: {url}")))?;
        let kind = match scheme {
            "s3" | "s3a" => Kind::S3,
            "gs" => Kind::Gs,
            "az" | "abfs" | "abfss" => Kind::Az,
            "http" | "https" => Kind::Http,
            "hdfs" => Kind::Hdfs,
            other => return Err(usage(format!("there is no store for {other}://"))),
        };
        // A path library may have made one slash of two.
        let rest = rest.strip_prefix("//").or_else(|| rest.strip_prefix('/')).unwrap_or(rest);
        let (rest, query) = match rest.split_once('?').filter(|_| kind == Kind::Http) {
            Some((rest, query)) => (rest, Some(query.to_string())),
            None => (rest, None),
        };
        let (host, path) = rest.split_once('/').unwrap_or((rest, ""));
        // Azure has CONTAINER@ACCOUNT; elsewhere an `@` follows a user and a password.
        if kind != Kind::Az && host.contains('@') {
            return Err(usage("an address with a user or password; leave it out, since reports show addresses"));
        }
        if host.is_empty() && kind != Kind::Hdfs {
            return Err(usage(format!("{scheme}:// without a bucket or host; write {scheme}://NAME/PATH")));
        }
        let path = path.trim_matches('/').to_string();
        Ok(Place { kind, scheme: scheme.into(), host: host.into(), path, query })
    }

    /// Returns the address of another path of the same store.
    pub fn at(&self, path: &str) -> String {
        format!("{}://{}/{}", self.scheme, self.host, path.trim_start_matches('/'))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_cut() {
        for (url, host, path) in [
            ("s3://bucket/a/b.log", "bucket", "a/b.log"),
            ("s3:/bucket/a/", "bucket", "a"),
            ("gs://bucket", "bucket", ""),
            ("hdfs://nn:8020/x y", "nn:8020", "x y"),
            ("hdfs:///x", "", "x"),
            ("az://box@account/x", "box@account", "x"),
            ("http://h:80/x?a=b", "h:80", "x"),
        ] {
            let place = Place::parse(url).unwrap();
            assert_eq!((place.host.as_str(), place.path.as_str()), (host, path), "{url}");
        }
        for url in ["ftp://x/y", "s3:///x@y/z", "https://me:secret@host/x", "s3://"] {
            let failure = Place::parse(url).unwrap_err();
            assert!(!failure.text.contains("secret"), "{}", failure.text);
        }
    }
}
