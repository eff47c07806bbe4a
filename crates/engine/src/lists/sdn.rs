//! The Treasury's list of specially designated nationals in its advanced XML form: about 100 MB, of which a few
//! thousand addresses matter. It is read event by event; no more than one event is in memory.

use std::collections::HashSet;
use std::io::{self, BufRead};

use quick_xml::Reader;
use quick_xml::events::{BytesStart, Event};

use super::parsed::{ListError, ParsedList};

const TYPE_PREFIX: &str = "Digital Currency Address";
/// No event of the real list comes near it.
const EVENT_BYTES_MAX: usize = 1024 * 1024;
const TEXT_CHARS_MAX: usize = 512;

pub(super) fn parse(xml: impl BufRead) -> Result<ParsedList, ListError> {
    let mut reader = Reader::from_reader(Bounded {
        inner: xml,
        since_event: 0,
    });
    let mut walk = Walk::default();
    let mut buffer = Vec::new();
    loop {
        buffer.clear();
        let event = reader.read_event_into(&mut buffer).map_err(malformed)?;
        match event {
            Event::Start(start) => walk.enter(&start)?,
            Event::Text(text) => walk.text(&text.decode().map_err(malformed)?)?,
            Event::CData(text) => walk.text(&text.decode().map_err(malformed)?)?,
            // An address has no characters that must be written as a reference.
            Event::GeneralRef(_) => walk.text("&")?,
            Event::End(_) => walk.leave()?,
            Event::Eof => break,
            Event::Empty(_)
            | Event::Comment(_)
            | Event::Decl(_)
            | Event::PI(_)
            | Event::DocType(_) => {}
        }
        reader.get_mut().since_event = 0;
    }
    walk.end()
}

fn malformed(error: impl std::fmt::Display) -> ListError {
    ListError::Malformed(error.to_string())
}

/// What the text of an element is.
enum ElementText {
    FeatureType(String),
    Address,
    Date(usize),
}

/// Where in the document we are, as far as it matters.
#[derive(Default)]
struct Walk {
    depth: usize,
    /// The root was there and has ended.
    is_whole: bool,
    /// Ids of the kinds of feature that are addresses.
    types: HashSet<String>,
    /// How deep the feature lies whose details are addresses.
    feature: Option<usize>,
    date_of_issue: Option<usize>,
    wanted: Option<(ElementText, usize, String)>,
    date: [String; 3],
    found: ParsedList,
}

impl Walk {
    fn enter(&mut self, start: &BytesStart<'_>) -> Result<(), ListError> {
        self.depth += 1;
        let depth = self.depth;
        let wanted = match start.local_name().as_ref() {
            b"DateOfIssue" if depth == 2 => {
                self.date_of_issue = Some(depth);
                None
            }
            b"Year" if self.date_of_issue.is_some() => Some(ElementText::Date(0)),
            b"Month" if self.date_of_issue.is_some() => Some(ElementText::Date(1)),
            b"Day" if self.date_of_issue.is_some() => Some(ElementText::Date(2)),
            b"FeatureType" => attribute(start, "ID")?.map(ElementText::FeatureType),
            b"VersionDetail" if self.feature.is_some() => Some(ElementText::Address),
            _ => None,
        };
        if self.feature.is_none()
            && let Some(id) = attribute(start, "FeatureTypeID")?
            && self.types.contains(&id)
        {
            self.feature = Some(depth);
        }
        if let Some(wanted) = wanted {
            self.wanted = Some((wanted, depth, String::new()));
        }
        Ok(())
    }

    fn text(&mut self, text: &str) -> Result<(), ListError> {
        if let Some((_, depth, wanted)) = &mut self.wanted
            && *depth == self.depth
        {
            wanted.push_str(text);
            if wanted.len() > TEXT_CHARS_MAX {
                return Err(malformed("a value is longer than any address"));
            }
        }
        Ok(())
    }

    fn leave(&mut self) -> Result<(), ListError> {
        if let Some((wanted, _, text)) = self.wanted.take_if(|(_, depth, _)| *depth == self.depth) {
            let text = text.trim();
            match wanted {
                ElementText::FeatureType(id) if text.starts_with(TYPE_PREFIX) => {
                    self.types.insert(id);
                }
                ElementText::FeatureType(_) => {}
                ElementText::Address if text.is_empty() => {}
                ElementText::Address => self.found.add(text)?,
                ElementText::Date(part) => self.date[part] = text.to_owned(),
            }
        }
        self.feature.take_if(|depth| *depth == self.depth);
        self.date_of_issue.take_if(|depth| *depth == self.depth);
        self.depth = self.depth.saturating_sub(1);
        self.is_whole |= self.depth == 0;
        Ok(())
    }

    fn end(mut self) -> Result<ParsedList, ListError> {
        if !self.is_whole || self.depth != 0 {
            return Err(malformed("it breaks off"));
        }
        if self.types.is_empty() {
            return Err(malformed("it knows no digital currency addresses"));
        }
        if self.date.iter().all(|part| !part.is_empty()) {
            let [year, month, day] = &self.date;
            self.found.version = Some(format!("{year}-{month:0>2}-{day:0>2}"));
        }
        Ok(self.found)
    }
}

fn attribute(start: &BytesStart<'_>, name: &str) -> Result<Option<String>, ListError> {
    let found = start.try_get_attribute(name).map_err(malformed)?;
    let value = found.map(|found| String::from_utf8(found.value.into_owned()));
    value.transpose().map_err(malformed)
}

/// Fails where a single event would take more memory than any event should.
struct Bounded<R> {
    inner: R,
    since_event: usize,
}

impl<R: BufRead> io::Read for Bounded<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let read = self.inner.read(buffer)?;
        self.since_event += read;
        Ok(read)
    }
}

impl<R: BufRead> BufRead for Bounded<R> {
    fn fill_buf(&mut self) -> io::Result<&[u8]> {
        if self.since_event > EVENT_BYTES_MAX {
            let error = "something in it is longer than a megabyte";
            return Err(io::Error::new(io::ErrorKind::InvalidData, error));
        }
        self.inner.fill_buf()
    }

    fn consume(&mut self, amount: usize) {
        self.since_event += amount;
        self.inner.consume(amount);
    }
}

#[cfg(test)]
mod tests {
    use std::io::BufReader;

    use super::*;

    const HEAD: &str = r#"<?xml version="1.0" encoding="utf-8"?>
<Sanctions xmlns="https://sanctionslistservice.ofac.treas.gov/api/PublicationPreview/exports/ADVANCED_XML" Version="3">
<DateOfIssue CalendarTypeID="1"><Year>2026</Year><Month>11</Month><Day>9</Day></DateOfIssue>
<ReferenceValueSets><FeatureTypeValues>
<FeatureType ID="8" FeatureTypeGroupID="1">Birthdate</FeatureType>
<FeatureType ID="344" FeatureTypeGroupID="1">Digital Currency Address - XBT</FeatureType>
<FeatureType ID="345" FeatureTypeGroupID="1">Digital Currency Address - ETH</FeatureType>
</FeatureTypeValues></ReferenceValueSets><DistinctParties>"#;
    const TAIL: &str = "</DistinctParties></Sanctions>";

    fn party(feature_type: &str, detail: &str) -> String {
        format!(
            r#"<DistinctParty FixedRef="1"><Comment>x &amp; y</Comment><Profile ID="1"><Feature ID="2" FeatureTypeID="{feature_type}">
<FeatureVersion ID="3" ReliabilityID="1"><Comment/><VersionDetail DetailTypeID="1432">{detail}</VersionDetail>
<VersionLocation LocationID="1"/></FeatureVersion><IdentityReference IdentityID="4"/></Feature></Profile></DistinctParty>"#
        )
    }

    fn addresses(xml: &str) -> Result<Vec<String>, String> {
        let found = parse(xml.as_bytes()).map_err(|error| error.to_string())?;
        let mut all: Vec<_> = found.addresses.iter().map(ToString::to_string).collect();
        all.sort_unstable();
        Ok(all)
    }

    #[test]
    fn addresses_of_every_currency_are_found_and_nothing_else() {
        let xml = [
            HEAD,
            &party("344", "bc1qexample"),
            &party("8", "12 Mar 1970"),
            &party("345", " 0xABcd "),
            TAIL,
        ]
        .concat();
        assert_eq!(addresses(&xml).unwrap(), ["0xabcd", "bc1qexample"]);
        let version = parse(xml.as_bytes()).unwrap().version;
        assert_eq!(version.as_deref(), Some("2026-11-09"));
    }

    #[test]
    fn half_a_list_is_no_list() {
        let xml = [HEAD, &party("344", "bc1qexample"), TAIL].concat();
        for cut in [xml.len() - 1, xml.len() - TAIL.len(), HEAD.len() + 60, 10] {
            assert!(addresses(&xml[..cut]).is_err(), "{cut}");
        }
        for wrong in [
            "",
            "<html><body>Service unavailable</body></html>",
            "<Sanctions></Sanctions>",
        ] {
            assert!(addresses(wrong).is_err(), "{wrong}");
        }
        let crossed = xml.replace("</Profile>", "</Feature>");
        assert!(addresses(&crossed).is_err());
    }

    #[test]
    fn a_value_that_is_no_address_spoils_the_whole_list() {
        for detail in ["two words", "&#120;", &"a".repeat(600)] {
            let xml = [HEAD, &party("344", detail), TAIL].concat();
            assert!(addresses(&xml).is_err(), "{detail}");
        }
    }

    #[test]
    fn an_endless_text_is_given_up() {
        let endless = io::Read::chain(HEAD.as_bytes(), io::repeat(b'a'));
        let error = parse(BufReader::new(endless)).unwrap_err().to_string();
        assert!(error.contains("longer than a megabyte"), "{error}");
    }
}
