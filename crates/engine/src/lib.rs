pub mod outbound;
