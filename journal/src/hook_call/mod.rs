//! One hook call over the wire: the request that the hook client sends, and the response it reads. Standard library
//! only, because the client links nothing else.

pub mod reply;
pub mod request;
