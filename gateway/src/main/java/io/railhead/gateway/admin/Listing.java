package io.railhead.gateway.admin;

import io.railhead.gateway.s3.S3Error;
import io.railhead.gateway.s3.S3Refusal;
import java.io.ByteArrayInputStream;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import javax.xml.stream.XMLInputFactory;
import javax.xml.stream.XMLStreamConstants;
import javax.xml.stream.XMLStreamException;
import javax.xml.stream.XMLStreamReader;
import org.jspecify.annotations.Nullable;

/**
 * One page of ListObjectsV2. Source: "ListObjectsV2" in the Amazon S3 API reference.
 *
 * @param next the token of the next page; null on the last page
 */
record Listing(List<Entry> entries, @Nullable String next) {
    private static final XMLInputFactory XML = factory();

    Listing {
        entries = List.copyOf(entries);
    }

    /**
     * An object of a listing.
     *
     * @param etag quotes included; "" if unknown
     * @param sizeBytes -1 if unknown
     */
    record Entry(String key, String etag, long sizeBytes) {

        static Entry of(String key) {
            return new Entry(key, "", -1);
        }
    }

    private static XMLInputFactory factory() {
        XMLInputFactory factory = XMLInputFactory.newDefaultFactory();
        factory.setProperty(XMLInputFactory.SUPPORT_DTD, false);
        factory.setProperty(XMLInputFactory.IS_SUPPORTING_EXTERNAL_ENTITIES, false);
        return factory;
    }

    /** Throws {@code S3Refusal} if the document is no listing. */
    static Listing parse(byte[] document) {
        try {
            return read(XML.createXMLStreamReader(new ByteArrayInputStream(document)));
        } catch (XMLStreamException | RuntimeException | Error e) {
            // The JDK's parser throws both on documents that are not well-formed.
            throw new S3Refusal(S3Error.SERVICE_UNAVAILABLE,
                    "The store's listing cannot be read.");
        }
    }

    private static Listing read(XMLStreamReader reader) throws XMLStreamException {
        List<Entry> entries = new ArrayList<>();
        Map<String, String> page = new HashMap<>();
        reader.nextTag();
        reader.require(XMLStreamConstants.START_ELEMENT, null, "ListBucketResult");
        while (reader.nextTag() == XMLStreamConstants.START_ELEMENT) {
            switch (reader.getLocalName()) {
                case "Contents" -> entries.add(entry(fields(reader)));
                case "IsTruncated", "NextContinuationToken" ->
                    page.put(reader.getLocalName(), reader.getElementText());
                default -> skip(reader);
            }
        }
        if (!Boolean.parseBoolean(page.get("IsTruncated"))) {
            return new Listing(entries, null);
        }
        String next = page.get("NextContinuationToken");
        if (next == null) {
            throw new XMLStreamException("truncated without a token");
        }
        return new Listing(entries, next);
    }

    private static Entry entry(Map<String, String> fields) throws XMLStreamException {
        String key = fields.get("Key");
        String size = fields.get("Size");
        if (key == null || key.isEmpty() || size == null) {
            throw new XMLStreamException("an entry without key or size");
        }
        return new Entry(key, fields.getOrDefault("ETag", ""), Long.parseLong(size.strip()));
    }

    /** Returns the texts of the children that have text only. */
    private static Map<String, String> fields(XMLStreamReader reader) throws XMLStreamException {
        Map<String, String> fields = new HashMap<>();
        while (reader.nextTag() == XMLStreamConstants.START_ELEMENT) {
            switch (reader.getLocalName()) {
                case "Key", "ETag", "Size" ->
                    fields.put(reader.getLocalName(), reader.getElementText());
                default -> skip(reader);
            }
        }
        return fields;
    }

    private static void skip(XMLStreamReader reader) throws XMLStreamException {
        for (int depth = 1; depth > 0;) {
            switch (reader.next()) {
                case XMLStreamConstants.START_ELEMENT -> depth++;
                case XMLStreamConstants.END_ELEMENT -> depth--;
                default -> {
                    // Text outside known elements is ignored.
                }
            }
        }
    }
}
