package io.railhead.gateway.object.writeback;

import io.railhead.gateway.s3.Digests;
import io.railhead.gateway.s3.S3Error;
import io.railhead.gateway.s3.S3Refusal;
import io.railhead.gateway.s3.body.BodyReader;
import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.security.MessageDigest;
import java.util.ArrayList;
import java.util.Base64;
import java.util.HashMap;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import java.util.function.Function;
import java.util.stream.Collectors;
import javax.xml.stream.XMLInputFactory;
import javax.xml.stream.XMLStreamConstants;
import javax.xml.stream.XMLStreamException;
import javax.xml.stream.XMLStreamReader;
import org.jspecify.annotations.Nullable;

/**
 * The document of a CompleteMultipartUpload. Source: "CompleteMultipartUpload" in the Amazon S3 API
 * reference.
 */
record Completion(List<Listed> parts) {
    /** S3's bound of every part but the last. */
    static final long LEAST_PART_BYTES = 5L << 20;
    static final int MOST_PARTS = 10_000;
    private static final int MAX_FIELDS = 16;
    private static final String SUM = "Checksum";
    private static final XMLInputFactory XML = factory();

    Completion {
        parts = List.copyOf(parts);
    }

    /**
     * A part as the client names it.
     *
     * @param etag without quotes
     * @param sums by the elements' names
     */
    record Listed(int number, String etag, Map<String, String> sums) {}

    private static XMLInputFactory factory() {
        XMLInputFactory factory = XMLInputFactory.newDefaultFactory();
        factory.setProperty(XMLInputFactory.SUPPORT_DTD, false);
        factory.setProperty(XMLInputFactory.IS_SUPPORTING_EXTERNAL_ENTITIES, false);
        return factory;
    }

    /** Parses a document; throws {@code S3Refusal} if it is not a list of parts in order. */
    static Completion parse(byte[] document) {
        List<Listed> parts;
        try {
            parts = parts(XML.createXMLStreamReader(new ByteArrayInputStream(document)));
        } catch (XMLStreamException | RuntimeException | Error e) {
            // The JDK's parser throws both on documents that are not well-formed.
            throw new S3Refusal(S3Error.MALFORMED_XML);
        }
        for (int i = 1; i < parts.size(); i++) {
            if (parts.get(i).number <= parts.get(i - 1).number) {
                throw new S3Refusal(S3Error.INVALID_PART_ORDER);
            }
        }
        return new Completion(parts);
    }

    private static List<Listed> parts(XMLStreamReader reader) throws XMLStreamException {
        List<Listed> parts = new ArrayList<>();
        boolean inRoot = false;
        while (reader.hasNext()) {
            int event = reader.next();
            if (event == XMLStreamConstants.DTD || parts.size() > MOST_PARTS) {
                throw new XMLStreamException("a document type, or too much");
            }
            if (event != XMLStreamConstants.START_ELEMENT) {
                continue;
            }
            if (inRoot) {
                parts.add(part(fields(reader)));
            }
            inRoot = true;
        }
        if (parts.isEmpty()) {
            throw new XMLStreamException("no parts");
        }
        return parts;
    }

    private static Map<String, String> fields(XMLStreamReader reader) throws XMLStreamException {
        if (!reader.getLocalName().equals("Part")) {
            throw new XMLStreamException("no part");
        }
        Map<String, String> fields = new HashMap<>();
        while (reader.next() != XMLStreamConstants.END_ELEMENT) {
            if (reader.isStartElement()) {
                String name = reader.getLocalName();
                String text = reader.getElementText().strip();
                if (fields.size() == MAX_FIELDS || fields.put(name, text) != null) {
                    throw new XMLStreamException("too many fields, or two of " + name);
                }
            }
        }
        return fields;
    }

    private static Listed part(Map<String, String> fields) throws XMLStreamException {
        String number = fields.get("PartNumber");
        String etag = fields.get("ETag");
        if (number == null || etag == null) {
            throw new XMLStreamException("a part without number or ETag");
        }
        Map<String, String> sums = fields.entrySet()
                .stream()
                .filter(field -> field.getKey().startsWith(SUM))
                .collect(Collectors.toMap(Map.Entry::getKey, Map.Entry::getValue));
        return new Listed(Integer.parseInt(number), bare(etag), sums);
    }

    static String bare(String etag) {
        return etag.replace("\"", "");
    }

    /**
     * Returns the object's parts; throws {@code S3Refusal} unless these make one.
     *
     * @param known the parts that were uploaded
     * @param sumHeader the checksum that all of them have; null for none
     */
    List<LogPart> chosen(List<LogPart> known, @Nullable String sumHeader) {
        Map<Integer, LogPart> byNumber = known.stream()
                .collect(Collectors.toMap(LogPart::number, Function.identity()));
        List<LogPart> chosen = new ArrayList<>();
        for (Listed listed : parts) {
            LogPart part = byNumber.get(listed.number);
            if (part == null || !bare(part.etag()).equals(listed.etag)
                    || !hasSums(part, listed.sums, sumHeader)) {
                throw new S3Refusal(S3Error.INVALID_PART,
                        "Part " + listed.number + " was not uploaded, or has another ETag or"
                                + " checksum.");
            }
            chosen.add(part);
        }
        for (LogPart part : chosen.subList(0, chosen.size() - 1)) {
            if (part.sizeBytes() < LEAST_PART_BYTES) {
                throw new S3Refusal(S3Error.ENTITY_TOO_SMALL, "Part " + part.number() + " has "
                        + part.sizeBytes() + " bytes; all parts but the last need 5 MiB.");
            }
        }
        return chosen;
    }

    private static boolean hasSums(LogPart part, Map<String, String> sums,
            @Nullable String sumHeader) {
        if (sumHeader == null) {
            // Clients repeat what a part's answer named. It was verified then.
            return true;
        }
        String known = UploadXml.sumElement(sumHeader);
        return sums.entrySet()
                .stream()
                .allMatch(sum -> sum.getKey().equals(known) && sum.getValue().equals(part.sum()));
    }

    /** Returns the ETag of the object that these parts make; "" if one has no MD5 for its ETag. */
    String etag() {
        return etag(parts.stream().map(Listed::etag).toList());
    }

    /** Returns S3's ETag of such parts, in quotes; "" if an ETag is no MD5. */
    static String etag(List<String> etags) {
        MessageDigest digest = Digests.of("MD5");
        try {
            etags.forEach(etag -> digest.update(HexFormat.of().parseHex(bare(etag))));
        } catch (IllegalArgumentException e) {
            return "";
        }
        return '"' + HexFormat.of().formatHex(digest.digest()) + '-' + etags.size() + '"';
    }

    /** Returns S3's composite checksum of such parts. */
    static String composite(String sumHeader, List<LogPart> parts) {
        ByteArrayOutputStream sums = new ByteArrayOutputStream();
        parts.forEach(part -> sums.writeBytes(Base64.getDecoder().decode(part.sum())));
        return BodyReader.sum(sumHeader, sums.toByteArray()) + '-' + parts.size();
    }
}
