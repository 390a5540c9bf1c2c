//! Identifies the repository of a clone, in the same way on every machine that has one.

/// The longest name that is kept.
const BYTES_MAX: usize = 200;

/// Returns host and path of a remote repository, without user, password, port and `.git`; `None` for a folder, which says
/// nothing on another machine, and for anything else.
pub fn remote(url: &str) -> Option<String> {
    let url = url.trim();
    let (host, path) = match url.split_once("://") {
        Some(("https" | "http" | "ssh" | "git" | "git+ssh", rest)) => {
            let (host, path) = rest.split_once('/')?;
            (without_port(without_user(host)), path)
        }
        Some(_) => return None,
        // `user@host:path`, as ssh has it.
        None => {
            let (host, path) = url.split_once(':')?;
            (without_user(host), path)
        }
    };
    let path = path.split(['?', '#']).next().unwrap_or_default();
    let path = path.trim_matches('/');
    let path = path.strip_suffix(".git").unwrap_or(path);
    // Anything shorter than two letters is a drive.
    let is_host = host.len() > 1
        && host
            .chars()
            .all(|char| char.is_alphanumeric() || "-._".contains(char));
    let name = format!("{}/{path}", host.to_lowercase());
    let is_plain = !name
        .chars()
        .any(|char| char.is_control() || char.is_whitespace());
    (is_host && !path.is_empty() && is_plain && name.len() <= BYTES_MAX).then_some(name)
}

fn without_user(host: &str) -> &str {
    host.rsplit_once('@').map_or(host, |(_, host)| host)
}

fn without_port(host: &str) -> &str {
    host.split_once(':').map_or(host, |(host, _)| host)
}

#[cfg(test)]
mod tests {
    use super::remote;

    #[test]
    fn every_address_of_a_repository_has_the_same_name() {
        for url in [
            "https://github.com/me/shop.git",
            "https://GitHub.com/me/shop",
            "https://me:secret@github.com/me/shop.git/",
            "https://github.com:443/me/shop.git?token=secret",
            "git@github.com:me/shop.git",
            "github.com:me/shop",
            "ssh://git@github.com:22/me/shop.git",
            "git://github.com/me/shop.git\n",
        ] {
            assert_eq!(remote(url).as_deref(), Some("github.com/me/shop"), "{url}");
        }
    }

    #[test]
    fn what_names_no_host_has_none() {
        for url in [
            "",
            "/srv/git/shop.git",
            "../shop",
            "file:///srv/git/shop",
            "C:/git/shop",
            "https://github.com",
            "https://github.com/",
            "ext::sh -c evil",
            "git@host name:shop",
            "host:a b",
        ] {
            assert_eq!(remote(url), None, "{url}");
        }
        assert_eq!(remote(&format!("host:{}", "x".repeat(300))), None);
    }
}
