//! The shapes of keys and tokens, as their issuers document them: a prefix, and random characters after it.
//!
//! Prefixes and lengths were compared with those of gitleaks. A key may be cut off, so a third of its length is enough
//! if its prefix has no other meaning.

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Set {
    Hex,
    /// Capitals, digits and hyphens.
    Upper,
    Alnum,
    /// Letters, digits, `_` and `-`.
    Word,
    Dotted,
    /// Base64 of either alphabet, and what password hashes are written with.
    Base64,
}

impl Set {
    /// All sets, in their order.
    pub(super) const COUNT: usize = 6;

    pub(super) fn has(self, byte: u8) -> bool {
        match self {
            Self::Hex => byte.is_ascii_hexdigit(),
            Self::Upper => byte.is_ascii_uppercase() || byte.is_ascii_digit() || byte == b'-',
            Self::Alnum => byte.is_ascii_alphanumeric(),
            Self::Word => byte.is_ascii_alphanumeric() || b"_-".contains(&byte),
            Self::Dotted => byte.is_ascii_alphanumeric() || b"_-.".contains(&byte),
            Self::Base64 => byte.is_ascii_alphanumeric() || b"_-+/=.$,%|~".contains(&byte),
        }
    }
}

/// What the prefix of a token says about it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Sign {
    /// Nothing else begins so: a few random characters after it are enough, and letters before it do not matter.
    Sure,
    /// As sure, but inside the token.
    Inner,
    /// Other texts begin so: what follows must look random, and not begin inside a word.
    Vague,
    /// As vague, and of exactly the shortest length.
    Exact,
}

/// A group of shapes that differ only in their prefix.
pub(super) struct Shape {
    /// The kind for the marker.
    pub(super) kind: &'static str,
    pub(super) set: Set,
    /// The fewest characters after the prefix.
    pub(super) least: usize,
    /// How many there are in a whole token; 0 if that varies.
    pub(super) whole: usize,
    pub(super) sign: Sign,
    /// The prefixes, separated by blanks.
    pub(super) prefixes: &'static str,
}

const fn shape(
    kind: &'static str,
    set: Set,
    (least, whole): (usize, usize),
    sign: Sign,
    prefixes: &'static str,
) -> Shape {
    Shape {
        kind,
        set,
        least,
        whole,
        sign,
        prefixes,
    }
}

use Set::{Alnum, Base64, Dotted, Hex, Upper, Word};
use Sign::{Exact, Inner, Sure, Vague};

/// The shapes. Of two that match, the first gives the kind.
pub(super) const SHAPES: &[Shape] = &[
    shape("anthropic_key", Word, (10, 0), Sure, "sk-ant-"),
    shape(
        "api_key",
        Word,
        (10, 0),
        Sure,
        "sk-proj- sk-svcacct- sk-admin- sk-or-v1- sk-lf- sk-litellm-",
    ),
    shape("api_key", Word, (16, 0), Vague, "sk-"),
    shape("api_key", Alnum, (12, 0), Inner, "T3BlbkFJ"),
    shape("token", Alnum, (38, 38), Exact, "4b1d"),
    shape("token", Alnum, (24, 24), Exact, "s."),
    shape("token", Word, (16, 43), Sure, "sha256~"),
    shape("google_key", Word, (12, 35), Sure, "AIza"),
    shape(
        "google_key",
        Dotted,
        (12, 0),
        Sure,
        "ya29. GOCSPX- 1//0g 1//0e",
    ),
    shape("google_key", Word, (20, 0), Sure, ":APA91b"),
    shape(
        "github_token",
        Alnum,
        (10, 36),
        Sure,
        "ghp_ gho_ ghu_ ghs_ ghr_",
    ),
    shape("github_token", Word, (12, 82), Sure, "github_pat_"),
    shape(
        "gitlab_token",
        Dotted,
        (8, 0),
        Sure,
        "glpat- gldt- glrt- glrtr- glcbt- glptt- glft- glsoat- glagent- glimt- gloas- glffct- glwt-",
    ),
    shape("gitlab_token", Word, (12, 20), Sure, "GR1348941"),
    shape(
        "slack_token",
        Base64,
        (10, 0),
        Sure,
        "xoxa- xoxb- xoxc- xoxd- xoxe- xoxo- xoxp- xoxr- xoxs- xoxe.xox xapp-",
    ),
    shape(
        "slack_token",
        Base64,
        (16, 0),
        Sure,
        "hooks.slack.com/services/ hooks.slack.com/workflows/ hooks.slack.com/triggers/",
    ),
    shape("aws_key_id", Upper, (8, 16), Sure, "AKIA ASIA ABIA ACCA"),
    shape(
        "token",
        Base64,
        (20, 0),
        Sure,
        "ABSKQmVkcm9j bedrock-api-key-",
    ),
    shape(
        "jwt",
        Dotted,
        (12, 0),
        Sure,
        "eyJhbGci eyJ0eXAi eyJraWQi eyJlbmMi eyJjdHki",
    ),
    shape("jwt", Dotted, (20, 0), Vague, "eyJ"),
    // Payment.
    shape(
        "token",
        Alnum,
        (10, 0),
        Sure,
        "sk_live_ sk_test_ sk_prod_ rk_live_ rk_test_ rk_prod_ rzp_live_ rzp_test_ shippo_live_ shippo_test_",
    ),
    shape("token", Base64, (16, 0), Sure, "whsec_"),
    shape(
        "token",
        Word,
        (10, 0),
        Sure,
        "sq0atp- sq0csp- sq0idp- access_token$ FLWSECK duffel_live_ duffel_test_",
    ),
    shape("token", Word, (30, 0), Vague, "EAAA"),
    shape(
        "token",
        Word,
        (20, 0),
        Vague,
        "access-production- access-sandbox- access-development-",
    ),
    shape(
        "token",
        Hex,
        (10, 32),
        Sure,
        "shpat_ shpca_ shppa_ shpss_ shptka_",
    ),
    shape("token", Alnum, (30, 54), Vague, "EZAK EZTK"),
    // Packages.
    shape("token", Alnum, (10, 36), Sure, "npm_"),
    shape("token", Word, (20, 0), Sure, "pypi-Ag"),
    shape("token", Hex, (12, 48), Sure, "rubygems_"),
    shape("token", Alnum, (32, 32), Exact, "cio"),
    shape("token", Alnum, (43, 43), Exact, "oy2"),
    shape("token", Alnum, (20, 60), Sure, "CLOJARS_"),
    shape("token", Word, (10, 0), Sure, "dckr_pat_ dckr_oat_"),
    shape("token", Alnum, (40, 0), Vague, "AKCp cmVmd"),
    // Models.
    shape(
        "token",
        Alnum,
        (16, 0),
        Vague,
        "hf_ api_org_ gsk_ xai- r8_ pplx- jina_ fw_ csk-",
    ),
    shape(
        "token",
        Word,
        (14, 0),
        Sure,
        "tvly- pcsk_ nvapi- lsv2_pt_ lsv2_sk_ tgp_v1_ voyage-key-",
    ),
    shape("token", Hex, (24, 40), Vague, "e2b_"),
    shape("token", Hex, (32, 32), Exact, "fc-"),
    // Clouds and hosting.
    shape("token", Hex, (12, 64), Sure, "dop_v1_ doo_v1_ dor_v1_"),
    shape("token", Hex, (16, 32), Vague, "dapi"),
    shape(
        "token",
        Base64,
        (16, 0),
        Sure,
        "fo1_ fm1a_ fm1r_ fm2_ ops_eyJ",
    ),
    shape("token", Dotted, (30, 0), Inner, ".atlasv1."),
    shape(
        "token",
        Dotted,
        (14, 0),
        Sure,
        "hvs. hvb. hvr. dp.pt. dp.st. dp.ct. dp.sa. dp.scim. dp.audit. dt0c01. dt0s01. dt0s02. dt0s16.",
    ),
    shape(
        "token",
        Dotted,
        (14, 0),
        Sure,
        "pscale_tkn_ pscale_oauth_ pscale_pw_ snyk_uat. snyk_sat.",
    ),
    shape("token", Hex, (16, 40), Sure, "sbp_ pul- glptt-"),
    shape(
        "token",
        Word,
        (10, 0),
        Sure,
        "sb_secret_ HRKU- tskey- rnd_ napi_ nfp_ CFPAT- vcp_ vci_ vca_",
    ),
    shape("token", Alnum, (20, 0), Sure, "LTAI"),
    shape("token", Hex, (20, 0), Vague, "v1.0-"),
    shape("token", Word, (30, 0), Vague, "sha256~"),
    shape("token", Word, (30, 0), Vague, "AQVN tk-us-"),
    shape("token", Upper, (20, 0), Vague, "A3-"),
    shape("token", Upper, (40, 0), Sure, "AGE-SECRET-KEY-"),
    shape("token", Word, (30, 0), Inner, "Q~"),
    // Building and watching.
    shape(
        "token",
        Word,
        (14, 0),
        Sure,
        "glsa_ CCIPAT_ CCIPRJ_ bkua_ sgp_ hcaik_ hcalk_ xaat- xapt- phx_ rdme_",
    ),
    shape(
        "token",
        Base64,
        (20, 0),
        Sure,
        "glc_ sntrys_ sntryu_ sntrya_ sntryi_",
    ),
    shape(
        "token",
        Word,
        (10, 0),
        Sure,
        "NRAK- NRII- NRJS- NRRA- NRIQ-",
    ),
    shape("token", Hex, (20, 0), Vague, "sqp_ squ_ sqa_"),
    shape("token", Upper, (26, 26), Exact, "API-"),
    shape("token", Dotted, (40, 0), Vague, "pat. sat."),
    shape("token", Alnum, (32, 32), Exact, "ico-"),
    shape("token", Alnum, (16, 0), Vague, "pnu_ apify_api_"),
    // Talking and writing.
    shape("token", Dotted, (20, 0), Vague, "SG."),
    shape("token", Hex, (24, 32), Vague, "key- pubkey-"),
    shape("token", Hex, (32, 32), Exact, "SK"),
    shape(
        "token",
        Word,
        (16, 0),
        Sure,
        "xkeysib- xsmtpsib- PMAK- PMAT- figd_ figu_ figo_ figoh_",
    ),
    shape("token", Dotted, (14, 0), Sure, "tfp_"),
    shape("token", Alnum, (16, 0), Sure, "lin_api_ lin_oauth_ ntn_"),
    shape("token", Alnum, (43, 43), Exact, "secret_"),
    shape("token", Base64, (30, 0), Sure, "ATATT3 ATCTT3 BBDC-"),
    shape("token", Word, (20, 0), Vague, "ATBB ATTA"),
    shape(
        "token",
        Word,
        (60, 0),
        Vague,
        "EAAC EAAG EAAM EAAB EAAD mfa. sl. IGQ",
    ),
    shape("token", Dotted, (16, 0), Sure, "WPL_AP1."),
    shape(
        "token",
        Base64,
        (20, 0),
        Sure,
        "/api/webhooks/ /IncomingWebhook/ /hooks/catch/",
    ),
    shape("token", Alnum, (28, 0), Vague, "oauth:"),
    shape(
        "token",
        Dotted,
        (14, 0),
        Sure,
        "sk.eyJ tk.eyJ sm_aat_ sm_pat_ sm_sat_ fio-u- p8e- s-s4t2ud- s-s4t2af-",
    ),
    shape("token", Alnum, (40, 0), Sure, "xprv9 yprv zprv tprv8"),
    // Hashes of passwords.
    shape("password_hash", Base64, (20, 0), Vague, "$1$ $5$ $6$"),
    shape(
        "password_hash",
        Base64,
        (20, 0),
        Sure,
        "$y$ $gy$ $2a$ $2b$ $2y$ $apr1$ $argon2 pbkdf2_sha256$ {SSHA} {SSHA512} {PBKDF2",
    ),
    // The first bytes of private keys without their frame.
    shape(
        "private_key",
        Base64,
        (40, 0),
        Sure,
        "b3BlbnNzaC1rZXktdjEA IBAAKCA QIBADANBgkqhkiG9w0BAQEFAASC MC4CAQAwBQYDK2Vw MIGHAgEAMBMGByqGSM49 MHcCAQEE",
    ),
];
