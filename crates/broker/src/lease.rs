//! The right of one run to use a secret: many times, for a while, until it is revoked.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use policy::SecretSource;

use crate::placeholder::Placeholder;
use crate::secret::{Secret, SecretError, SecretName, SecretStore};

/// Time for which a value is used before its source is asked again. Tokens of commands and files change.
const FRESH: Duration = Duration::from_secs(5 * 60);

/// The right of one run to use a secret.
pub(crate) struct Lease {
    pub(crate) name: SecretName,
    pub(crate) placeholder: Placeholder,
    pub(crate) source: SecretSource,
    /// Explains why there was no value when the run began.
    pub(crate) missing: Option<String>,
    store: Arc<dyn SecretStore>,
    until: Option<Instant>,
    value: tokio::sync::Mutex<Option<(Arc<Secret>, Instant)>>,
    /// Every value that was used, for scrubbing.
    used: Mutex<Vec<Arc<Secret>>>,
    revoked: AtomicBool,
}

impl std::fmt::Debug for Lease {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Lease({})", self.name)
    }
}

/// Explains why a lease cannot be used.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub(crate) enum LeaseError {
    /// A person revoked it.
    #[error("the use of the secret {0} was revoked")]
    Revoked(SecretName),
    /// Its time is over.
    #[error("the time in which this run may use the secret {0} is over; start the command again")]
    Expired(SecretName),
    /// The value cannot be had.
    #[error("cannot get the secret {0}: {1}")]
    Unavailable(SecretName, Arc<SecretError>),
    /// The thread that read it died.
    #[error("cannot get the secret {0}: the thread that reads it failed")]
    Failed(SecretName),
}

impl Lease {
    /// Grants a run the use of a secret, for so long. A value that is known already spares the first look.
    pub(crate) fn new(
        name: SecretName,
        source: SecretSource,
        store: Arc<dyn SecretStore>,
        lifetime: Option<Duration>,
    ) -> Result<Self, SecretError> {
        // A command may ask a person or take seconds; it is run with the first request. A value that is missing is looked for again then:
        // a run that does not need it goes on.
        let (value, missing) = match source {
            SecretSource::Command(_) => (None, None),
            _ => match store.load(&name, &source) {
                Ok(value) => (Some(Arc::new(value)), None),
                Err(error) => (None, Some(error.to_string())),
            },
        };
        let placeholder = match &value {
            Some(value) => Placeholder::like(value)?,
            None => Placeholder::generic()?,
        };
        let now = Instant::now();
        Ok(Self {
            name,
            placeholder,
            source,
            store,
            missing,
            until: lifetime.and_then(|lifetime| now.checked_add(lifetime)),
            used: Mutex::new(value.iter().cloned().collect()),
            value: tokio::sync::Mutex::new(value.map(|value| (value, now))),
            revoked: AtomicBool::new(false),
        })
    }

    /// Returns the value, if the lease still holds. Requests that come at once wait for one look.
    pub(crate) async fn secret(&self) -> Result<Arc<Secret>, LeaseError> {
        self.check(Instant::now())?;
        let mut value = self.value.lock().await;
        if let Some((known, since)) = &*value
            && since.elapsed() < FRESH
        {
            return Ok(known.clone());
        }
        let (store, name, source) = (self.store.clone(), self.name.clone(), self.source.clone());
        let loaded = tokio::task::spawn_blocking(move || store.load(&name, &source)).await;
        let loaded = loaded.map_err(|_| LeaseError::Failed(self.name.clone()))?;
        let loaded =
            Arc::new(loaded.map_err(|error| LeaseError::Unavailable(self.name.clone(), Arc::new(error)))?);
        *value = Some((loaded.clone(), Instant::now()));
        let mut used = self.used();
        if !used.contains(&loaded) {
            used.push(loaded.clone());
        }
        drop(used);
        // The lease may have ended while a command ran.
        self.check(Instant::now())?;
        Ok(loaded)
    }

    /// Forgets the value after the service refused it, so that the next request asks its source again, but not more often
    /// than this.
    pub(crate) fn forget(&self, after: Duration) {
        if let Ok(mut value) = self.value.try_lock()
            && value.as_ref().is_some_and(|(_, since)| since.elapsed() >= after)
        {
            *value = None;
        }
    }

    fn check(&self, now: Instant) -> Result<(), LeaseError> {
        match self.until {
            _ if self.revoked.load(Ordering::Acquire) => Err(LeaseError::Revoked(self.name.clone())),
            Some(until) if now >= until => Err(LeaseError::Expired(self.name.clone())),
            _ => Ok(()),
        }
    }

    /// Ends the lease at once. The broker closes the connections to its hosts.
    pub(crate) fn revoke(&self) {
        self.revoked.store(true, Ordering::Release);
    }

    /// Returns every value that was used.
    pub(crate) fn used(&self) -> std::sync::MutexGuard<'_, Vec<Arc<Secret>>> {
        // A list that was only added to is whole at any time.
        self.used.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::AtomicU64;

    use super::*;

    #[derive(Default)]
    struct Counting(AtomicU64);

    impl SecretStore for Counting {
        fn load(&self, name: &SecretName, _: &SecretSource) -> Result<Secret, SecretError> {
            let number = self.0.fetch_add(1, Ordering::Relaxed);
            if name.as_str() == "missing" {
                return Err(SecretError::NotSet(name.clone()));
            }
            Secret::new(format!("value-{number}-of-the-secret").into_bytes())
        }
    }

    fn lease(name: &str, source: SecretSource, lifetime: Option<Duration>) -> Result<Lease, SecretError> {
        Lease::new(SecretName::parse(name).unwrap(), source, Arc::new(Counting::default()), lifetime)
    }

    #[tokio::test]
    async fn a_lease_is_used_many_times_and_revoked() {
        let lease = lease("a", SecretSource::Command([].into()), None).unwrap();
        let (one, two) = tokio::join!(lease.secret(), lease.secret());
        assert!(one.unwrap() == two.unwrap());
        lease.forget(Duration::ZERO);
        assert_eq!(lease.secret().await.unwrap().expose(), b"value-1-of-the-secret");
        assert_eq!(lease.used().len(), 2, "earlier values are still scrubbed");
        lease.revoke();
        assert!(matches!(lease.secret().await, Err(LeaseError::Revoked(_))));
    }

    #[tokio::test]
    async fn a_lease_expires() {
        let lease = lease("a", SecretSource::Store, Some(Duration::ZERO)).unwrap();
        assert!(matches!(lease.secret().await, Err(LeaseError::Expired(_))));
    }

    #[tokio::test]
    async fn a_secret_that_is_missing_is_told_before_the_run() {
        assert!(lease("missing", SecretSource::Store, None).is_ok_and(|lease| lease.missing.is_some()));
        let late = lease("missing", SecretSource::Command([].into()), None).unwrap();
        let error = late.secret().await.unwrap_err();
        assert!(error.to_string().contains("ringfence secret set missing"), "{error}");
    }
}
