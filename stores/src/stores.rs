//! Stores of one job, opened once each.

use std::collections::BTreeMap;
use std::fs::File;
use std::sync::Arc;
use std::time::Duration;

use object_store::azure::MicrosoftAzureBuilder;
use object_store::gcp::GoogleCloudStorageBuilder;
use object_store::{BackoffConfig, Certificate, ClientOptions, RetryConfig};
use tokio::sync::Mutex;
use yunti_base::store_protocol::{Entry, Failure, FailureKind, Pin};

use crate::counted::{Counted, Counts};
use crate::failure::{Outcome, failure, of_store, usage};
use crate::hdfs::Hdfs;
use crate::http::Web;
use crate::objects::Objects;
use crate::place::{Kind, Place};
use crate::s3;
use crate::settings::Settings;

/// One store.
#[derive(Clone)]
pub enum Store {
    Objects(Objects),
    Web(Web),
    Hdfs(Arc<Hdfs>),
}

/// Stores by kind and host.
pub struct Stores {
    settings: Settings,
    counted: Counted,
    open: Mutex<BTreeMap<(Kind, String), Store>>,
}

/// Longest time for one request with its body.
const REQUEST_MAX: Duration = Duration::from_secs(3600);

/// Returns the failure of a write to a web server.
pub fn only_read() -> Failure {
    failure(FailureKind::Usage, "web servers are only read; write to s3://, gs://, az:// or hdfs://")
}

impl Stores {
    pub fn new(settings: Settings, counts: Arc<Counts>) -> Stores {
        let timeout = settings.timeout();
        Stores { settings, counted: Counted { counts, timeout }, open: Mutex::default() }
    }

    /// Returns the store of a place.
    pub async fn of(&self, place: &Place) -> Outcome<Store> {
        let name = (place.kind, if place.kind == Kind::Http { String::new() } else { place.host.clone() });
        let mut open = self.open.lock().await;
        if let Some(store) = open.get(&name) {
            return Ok(store.clone());
        }
        let store = self.connect(place)?;
        open.insert(name, store.clone());
        Ok(store)
    }

    fn certificate(&self) -> Outcome<Option<Vec<u8>>> {
        let Some(path) = self.settings.text("ca.file") else { return Ok(None) };
        std::fs::read(path).map(Some).map_err(|e| usage(format!("store.ca.file: cannot read {path}: {e}")))
    }

    fn client_options(&self) -> Outcome<ClientOptions> {
        let options = ClientOptions::new()
            .with_timeout(REQUEST_MAX)
            .with_read_timeout(self.settings.timeout())
            .with_connect_timeout(self.settings.timeout())
            .with_pool_max_idle_per_host(self.settings.requests())
            .with_allow_http(true);
        Ok(match self.certificate()? {
            Some(pem) => {
                let certificates = Certificate::from_pem_bundle(&pem).map_err(|e| of_store(&e))?;
                certificates.into_iter().fold(options, ClientOptions::with_root_certificate)
            }
            None => options,
        })
    }

    fn connect(&self, place: &Place) -> Outcome<Store> {
        let Stores { settings, counted, .. } = self;
        let retries = settings.retries();
        let backoff =
            BackoffConfig { init_backoff: Duration::from_millis(100), max_backoff: Duration::from_secs(10), base: 2.0 };
        let retry = RetryConfig { backoff, max_retries: retries, retry_timeout: Duration::from_secs(240) };
        let objects = |store, multipart, bucket| {
            Store::Objects(Objects { store, multipart, bucket, counts: counted.counts.clone(), retries })
        };
        Ok(match place.kind {
            Kind::S3 => {
                let bucket = s3::open(&place.host, settings, counted, self.client_options()?, retry)?;
                let store = Arc::new(bucket.store.clone());
                objects(store.clone(), store, Some(Arc::new(bucket)))
            }
            Kind::Gs => {
                let mut builder = GoogleCloudStorageBuilder::from_env().with_bucket_name(&place.host);
                if let Some(endpoint) = settings.text("gs.endpoint") {
                    builder = builder.with_base_url(endpoint);
                }
                let store = builder
                    .with_skip_signature(settings.flag("gs.anonymous")?.unwrap_or(false))
                    .with_client_options(self.client_options()?)
                    .with_retry(retry)
                    .with_http_connector(counted.clone())
                    .build()
                    .map_err(|e| of_store(&e))?;
                let store = Arc::new(store);
                objects(store.clone(), store, None)
            }
            Kind::Az => {
                let (container, account) = place.host.split_once('@').unwrap_or((&place.host, ""));
                let mut builder = MicrosoftAzureBuilder::from_env().with_container_name(container);
                let account = account.split('.').next().unwrap_or_default();
                let account = if account.is_empty() { settings.text("az.account") } else { Some(account) };
                if let Some(account) = account {
                    builder = builder.with_account(account);
                }
                if let Some(endpoint) = settings.text("az.endpoint") {
                    builder = builder.with_endpoint(endpoint.into());
                }
                let store = builder
                    .with_allow_http(true)
                    .with_skip_signature(settings.flag("az.anonymous")?.unwrap_or(false))
                    .with_client_options(self.client_options()?)
                    .with_retry(retry)
                    .with_http_connector(counted.clone())
                    .build()
                    .map_err(|e| of_store(&e))?;
                let store = Arc::new(store);
                objects(store.clone(), store, None)
            }
            Kind::Http => {
                let mut builder = reqwest::Client::builder()
                    .read_timeout(settings.timeout())
                    .connect_timeout(settings.timeout())
                    .pool_max_idle_per_host(settings.requests())
                    .user_agent("yunti");
                if let Some(pem) = self.certificate()? {
                    let bad = |e: reqwest::Error| usage(format!("store.ca.file: {e}"));
                    for certificate in reqwest::Certificate::from_pem_bundle(&pem).map_err(bad)? {
                        builder = builder.add_root_certificate(certificate);
                    }
                }
                let client = builder.build().map_err(|e| failure(FailureKind::Other, e.to_string()))?;
                Store::Web(Web { client, counts: counted.counts.clone(), retries })
            }
            Kind::Hdfs => Store::Hdfs(Arc::new(Hdfs::open(place, settings, counted.counts.clone())?)),
        })
    }
}

impl Store {
    pub async fn stat(&self, place: &Place) -> Outcome<Entry> {
        match self {
            Store::Objects(objects) => objects.stat(place).await,
            Store::Web(web) => web.stat(place).await,
            Store::Hdfs(hdfs) => hdfs.stat(place).await,
        }
    }

    pub async fn list(&self, place: &Place, deep: bool) -> Outcome<Vec<Entry>> {
        match self {
            Store::Objects(objects) => objects.list(place, deep).await,
            Store::Web(_) => {
                Err(failure(FailureKind::Unsupported, "web servers have no lists of files; name each file"))
            }
            Store::Hdfs(hdfs) => hdfs.list(place, deep).await,
        }
    }

    pub async fn get(&self, place: &Place, from: u64, len: u64, at: u64, pin: &Pin, window: &File) -> Outcome<u64> {
        match self {
            Store::Objects(objects) => objects.get(place, from, len, at, pin, window).await,
            Store::Web(web) => web.get(place, from, len, at, pin, window).await,
            Store::Hdfs(hdfs) => hdfs.get(place, from, len, at, pin, window).await,
        }
    }

    pub async fn upload(&self, place: &Place) -> Outcome<String> {
        match self {
            Store::Objects(objects) => objects.upload(place).await,
            Store::Web(_) => Err(only_read()),
            Store::Hdfs(hdfs) => hdfs.upload(place).await,
        }
    }

    pub async fn part(&self, place: &Place, upload: &str, index: u32, bytes: Vec<u8>) -> Outcome<String> {
        match self {
            Store::Objects(objects) => objects.part(place, upload, index, bytes).await,
            Store::Web(_) => Err(only_read()),
            Store::Hdfs(hdfs) => hdfs.part(upload, bytes).await,
        }
    }

    pub async fn abort(&self, place: &Place, upload: &str) -> Outcome<()> {
        match self {
            Store::Objects(objects) => objects.abort(place, upload).await,
            Store::Web(_) => Err(only_read()),
            Store::Hdfs(hdfs) => hdfs.abort(place, upload).await,
        }
    }
}
