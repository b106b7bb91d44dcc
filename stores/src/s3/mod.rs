//! S3 and what speaks it: credentials, region, endpoint, and the uploads that killed jobs left.

mod profile;

use std::time::{Duration, SystemTime};

use object_store::aws::{AmazonS3, AmazonS3Builder, AmazonS3ConfigKey, AwsAuthorizer, S3ConditionalPut};
use object_store::client::{HttpClient, HttpConnector, HttpRequestBody};
use object_store::{ClientOptions, RetryConfig};

use crate::counted::Counted;
use crate::failure::{Outcome, failure, of_store, usage};
use crate::settings::Settings;
use profile::Profile;
use yunti_base::store_protocol::FailureKind;

/// One bucket.
pub struct Bucket {
    pub store: AmazonS3,
    client: HttpClient,
    /// Address of the bucket, without a slash at its end.
    address: String,
    region: String,
    is_anonymous: bool,
}

/// Opens a bucket. Fails with `Usage` or `Denied` if there are no credentials.
pub fn open(
    bucket: &str,
    settings: &Settings,
    counted: &Counted,
    client: ClientOptions,
    retry: RetryConfig,
) -> Outcome<Bucket> {
    let named = settings.text("s3.profile").map(str::to_string).or_else(|| std::env::var("AWS_PROFILE").ok());
    let is_anonymous = settings.flag("s3.anonymous")?.unwrap_or(false);
    let mut builder = AmazonS3Builder::from_env().with_bucket_name(bucket);
    let has_keys = std::env::var_os("AWS_ACCESS_KEY_ID").is_some();
    let mut profile = Profile::default();
    if named.is_some() || !has_keys {
        profile = Profile::read(named.as_deref().unwrap_or("default"), named.is_some())?;
    }
    // A profile that the user names goes before keys of the environment; the default profile does not.
    if let (Some(id), Some(secret)) = (profile.get("aws_access_key_id"), profile.get("aws_secret_access_key")) {
        builder = builder.with_access_key_id(id).with_secret_access_key(secret);
        builder = match profile.get("aws_session_token") {
            Some(token) => builder.with_token(token),
            None => builder,
        };
    } else if !has_keys && !is_anonymous && !has_role() {
        return Err(failure(
            FailureKind::Denied,
            "there are no credentials for s3://; set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, name a profile \
             (--store-option s3.profile=NAME), or read a public bucket with --store-option s3.anonymous=true",
        ));
    }
    let from_env = |names: [&str; 2]| names.into_iter().find_map(|name| std::env::var(name).ok());
    let region = settings.text("s3.region").map(str::to_string);
    let region = region.or_else(|| from_env(["AWS_REGION", "AWS_DEFAULT_REGION"]));
    let region = region.or_else(|| profile.get("region").map(str::to_string)).unwrap_or_else(|| "us-east-1".into());
    let endpoint = settings.text("s3.endpoint").map(str::to_string);
    let endpoint = endpoint.or_else(|| from_env(["AWS_ENDPOINT_URL_S3", "AWS_ENDPOINT_URL"]));
    let endpoint = endpoint.or_else(|| profile.get("endpoint_url").map(str::to_string));
    let is_path_style = settings.flag("s3.path.style")?.unwrap_or(endpoint.is_some() || bucket.contains('.'));
    let address = match &endpoint {
        Some(endpoint) => address_of(endpoint, bucket, is_path_style)?,
        None if is_path_style => format!("https://s3.{region}.amazonaws.com/{bucket}"),
        None => format!("https://{bucket}.s3.{region}.amazonaws.com"),
    };
    if let Some(endpoint) = endpoint {
        let base = if is_path_style { endpoint } else { address.clone() };
        builder = builder.with_endpoint(base.trim_end_matches('/'));
    }
    let conditional = settings.flag("s3.conditional.put")?.unwrap_or(true);
    let conditional = if conditional { S3ConditionalPut::ETagMatch } else { S3ConditionalPut::Disabled };
    let store = builder
        .with_region(&region)
        .with_allow_http(true)
        .with_virtual_hosted_style_request(!is_path_style)
        .with_skip_signature(is_anonymous)
        .with_config(AmazonS3ConfigKey::UnsignedPayload, "true")
        .with_conditional_put(conditional)
        // Not all that speak S3 delete several objects at once.
        .with_disable_bulk_delete(true)
        .with_client_options(client.clone())
        .with_retry(retry)
        .with_http_connector(counted.clone())
        .build()
        .map_err(|e| of_store(&e))?;
    let client = counted.connect(&client).map_err(|e| of_store(&e))?;
    Ok(Bucket { store, client, address, region, is_anonymous })
}

/// Returns true if this machine may have a role: of a container, a web identity, or an instance of EC2.
fn has_role() -> bool {
    let is_set = |name| std::env::var_os(name).is_some();
    if is_set("AWS_WEB_IDENTITY_TOKEN_FILE")
        || is_set("AWS_CONTAINER_CREDENTIALS_RELATIVE_URI")
        || is_set("AWS_CONTAINER_CREDENTIALS_FULL_URI")
        || is_set("AWS_METADATA_ENDPOINT")
    {
        return true;
    }
    if std::env::var("AWS_EC2_METADATA_DISABLED").is_ok_and(|value| value == "true") {
        return false;
    }
    // Without this look, a machine elsewhere would wait for minutes.
    let metadata = std::net::SocketAddr::from(([169, 254, 169, 254], 80));
    std::net::TcpStream::connect_timeout(&metadata, Duration::from_secs(1)).is_ok()
}

fn address_of(endpoint: &str, bucket: &str, is_path_style: bool) -> Outcome<String> {
    let endpoint = endpoint.trim_end_matches('/');
    let Some((scheme, host)) = endpoint.split_once("://").filter(|(scheme, _)| ["http", "https"].contains(scheme))
    else {
        return Err(usage(format!(
            "store.s3.endpoint: '{endpoint}' is no address; write https://HOST or http://HOST:PORT"
        )));
    };
    if host.contains('@') {
        return Err(usage("store.s3.endpoint: leave user and password out of the address"));
    }
    Ok(if is_path_style { format!("{endpoint}/{bucket}") } else { format!("{scheme}://{bucket}.{host}") })
}

/// Upload that was begun and not completed.
pub struct Unfinished {
    pub key: String,
    pub upload: String,
    pub age: Duration,
}

impl Bucket {
    /// Returns the unfinished uploads of the objects below a prefix. None if the store does not list them.
    pub async fn unfinished(&self, prefix: &str) -> Option<Vec<Unfinished>> {
        let encoded: String = url::form_urlencoded::byte_serialize(prefix.as_bytes()).collect();
        let address = format!("{}?prefix={}&uploads=", self.address, encoded.replace('+', "%20"));
        let mut request = object_store::client::HttpRequest::new(HttpRequestBody::empty());
        *request.uri_mut() = address.parse().ok()?;
        if !self.is_anonymous {
            let credential = self.store.credentials().get_credential().await.ok()?;
            AwsAuthorizer::new(&credential, "s3", &self.region).try_authorize(&mut request, None).ok()?;
        }
        let response = self.client.execute(request).await.ok()?;
        if !response.status().is_success() {
            return None;
        }
        let bytes = http_body_util::BodyExt::collect(response.into_body()).await.ok()?.to_bytes();
        Some(parse_uploads(&String::from_utf8_lossy(&bytes), SystemTime::now()))
    }
}

/// Returns the uploads of an answer to ListMultipartUploads.
fn parse_uploads(text: &str, now: SystemTime) -> Vec<Unfinished> {
    let uploads = text.split("<Upload>").skip(1).filter_map(|part| {
        let value = |name: &str| {
            let start = part.find(&format!("<{name}>"))? + name.len() + 2;
            Some(&part[start..start + part[start..].find("</")?])
        };
        let begun = seconds_of(value("Initiated")?)?;
        let now = now.duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
        let age = now.saturating_sub(Duration::from_secs(begun));
        Some(Unfinished { key: unescaped(value("Key")?), upload: unescaped(value("UploadId")?), age })
    });
    uploads.collect()
}

fn unescaped(text: &str) -> String {
    let text = text.replace("&quot;", "\"").replace("&apos;", "'").replace("&lt;", "<").replace("&gt;", ">");
    text.replace("&amp;", "&")
}

/// Returns the seconds since 1970 of `2026-11-25T22:00:00.000Z`.
fn seconds_of(text: &str) -> Option<u64> {
    let number = |from: usize, to: usize| text.get(from..to)?.parse::<i64>().ok();
    let (year, month, day) = (number(0, 4)?, number(5, 7)?, number(8, 10)?);
    // Days from civil, by Howard Hinnant: years begin in March.
    let shifted = if month <= 2 { year - 1 } else { year };
    let era = shifted.div_euclid(400);
    let year_of_era = shifted.rem_euclid(400);
    let day_of_year = (153 * ((month + 9) % 12) + 2) / 5 + day - 1;
    let days = era * 146_097 + year_of_era * 365 + year_of_era / 4 - year_of_era / 100 + day_of_year - 719_468;
    u64::try_from(days * 86_400 + number(11, 13)? * 3600 + number(14, 16)? * 60 + number(17, 19)?).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn uploads_are_found_in_the_answer() {
        let text = "<R><Upload><Key>a/b&amp;c</Key><UploadId>u1</UploadId><Initiated>1970-01-02T00:00:01.000Z</Initiated>\
                    </Upload><Upload><Key>d</Key><UploadId>u2</UploadId><Initiated>2000-02-29T12:00:00Z</Initiated></Upload></R>";
        let found = parse_uploads(text, SystemTime::UNIX_EPOCH + Duration::from_secs(86_411));
        assert_eq!(found.len(), 2);
        assert_eq!((&found[0].key[..], &found[0].upload[..], found[0].age.as_secs()), ("a/b&c", "u1", 10));
        assert_eq!(seconds_of("2000-02-29T12:00:00Z"), Some(951_825_600));
        assert_eq!(seconds_of("yesterday"), None);
    }

    #[test]
    fn addresses_of_buckets() {
        assert_eq!(address_of("http://h:9/", "b", true).unwrap(), "http://h:9/b");
        assert_eq!(address_of("https://h", "b", false).unwrap(), "https://b.h");
        assert!(address_of("h:9", "b", true).unwrap_err().text.contains("is no address"));
        assert!(!address_of("http://me:secret@h", "b", true).unwrap_err().text.contains("secret"));
    }
}
