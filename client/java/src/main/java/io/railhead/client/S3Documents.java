package io.railhead.client;

import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import javax.xml.stream.XMLInputFactory;
import javax.xml.stream.XMLStreamConstants;
import javax.xml.stream.XMLStreamException;
import javax.xml.stream.XMLStreamReader;

/**
 * The XML documents of S3 that a client reads. DTDs and entities are never resolved. A document is
 * flattened to the texts at its top, and one map for each repeated element.
 */
final class S3Documents {
    private static final XMLInputFactory FACTORY = factory();

    private S3Documents() {}

    private static XMLInputFactory factory() {
        XMLInputFactory factory = XMLInputFactory.newDefaultFactory();
        factory.setProperty(XMLInputFactory.SUPPORT_DTD, false);
        factory.setProperty(XMLInputFactory.IS_SUPPORTING_EXTERNAL_ENTITIES, false);
        factory.setProperty(XMLInputFactory.IS_COALESCING, true);
        return factory;
    }

    /**
     * @param root the outermost element's name
     * @param fields texts of its direct children
     * @param entries the texts within each element of the requested name
     */
    record Document(String root, Map<String, String> fields, List<Map<String, String>> entries) {

        String require(String field) throws IOException {
            String value = fields.get(field);
            if (value == null) {
                throw new PermanentException("the store's " + root + " has no " + field);
            }
            return value;
        }
    }

    static Document parse(byte[] xml, String entryName) throws IOException {
        try {
            XMLStreamReader reader = FACTORY.createXMLStreamReader(new ByteArrayInputStream(xml));
            try {
                return read(reader, entryName);
            } finally {
                reader.close();
            }
        } catch (XMLStreamException e) {
            throw new IOException("the store's XML cannot be read: " + e.getMessage(), e);
        }
    }

    private static Document read(XMLStreamReader reader, String entryName)
            throws XMLStreamException {
        reader.nextTag();
        Document document = new Document(reader.getLocalName(), new LinkedHashMap<>(),
                new ArrayList<>());
        Map<String, String> into = document.fields();
        StringBuilder text = new StringBuilder();
        for (int depth = 1; depth > 0;) {
            switch (reader.next()) {
                case XMLStreamConstants.START_ELEMENT -> {
                    depth++;
                    text.setLength(0);
                    if (reader.getLocalName().equals(entryName)) {
                        into = new LinkedHashMap<>();
                        document.entries().add(into);
                    }
                }
                case XMLStreamConstants.END_ELEMENT -> {
                    depth--;
                    if (reader.getLocalName().equals(entryName)) {
                        into = document.fields();
                    } else if (depth > 0) {
                        into.put(reader.getLocalName(), text.toString());
                    }
                    text.setLength(0);
                }
                case XMLStreamConstants.CHARACTERS, XMLStreamConstants.CDATA ->
                    text.append(reader.getText());
                default -> {
                    // Comments and processing instructions have no meaning in S3.
                }
            }
        }
        return document;
    }

    /** Returns the exception for a refusal's document, or for the status alone, as after HEAD. */
    static S3Exception refusal(int status, byte[] xml, String requestId) {
        if (xml.length > 0) {
            try {
                Document error = parse(xml, "");
                return new S3Exception(status, error.fields().getOrDefault("Code", codeOf(status)),
                        error.fields().getOrDefault("Message", ""), requestId);
            } catch (IOException e) {
                S3Exception refusal = new S3Exception(status, codeOf(status), "no S3 document",
                        requestId);
                refusal.addSuppressed(e);
                return refusal;
            }
        }
        return new S3Exception(status, codeOf(status), "", requestId);
    }

    private static String codeOf(int status) {
        return switch (status) {
            case 401, 403 -> "AccessDenied";
            case 404 -> "NotFound";
            case 412 -> "PreconditionFailed";
            case 416 -> "InvalidRange";
            // Not SlowDown, which is a store's own answer: a proxy sends 503 for a broken
            // connection.
            case 503 -> "ServiceUnavailable";
            default -> "HTTP " + status;
        };
    }
}
