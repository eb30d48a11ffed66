package io.railhead.gateway.object.delete;

import io.railhead.gateway.authorization.AccessControl;
import io.railhead.gateway.s3.ErrorXml;
import io.railhead.gateway.s3.S3Error;
import io.railhead.gateway.s3.S3Refusal;
import java.io.ByteArrayInputStream;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import javax.xml.stream.XMLInputFactory;
import javax.xml.stream.XMLStreamConstants;
import javax.xml.stream.XMLStreamException;
import javax.xml.stream.XMLStreamReader;
import org.jspecify.annotations.Nullable;

/**
 * The document of a DeleteObjects request. A document that two parsers could read differently is
 * refused: the store must delete only keys that were checked here. Immutable.
 *
 * @param settings the elements beside the objects, such as Quiet
 */
public record DeletionList(List<Field> settings, List<Entry> entries) {
    private static final String NAMESPACE = "http://s3.amazonaws.com/doc/2006-03-01/";
    /** S3's own limit. */
    private static final int MAX_OBJECTS = 1000;
    /** Three times the fields that S3 defines for an object. */
    private static final int MAX_FIELDS = 16;
    private static final XMLInputFactory XML = factory();

    /** One element with text. */
    public record Field(String name, String text) {}

    /** One object to delete, with all its fields. */
    public record Entry(List<Field> fields) {

        public String key() {
            String key = text("Key");
            if (key == null) {
                throw new IllegalStateException("read without a key");
            }
            return key;
        }

        public @Nullable String versionId() {
            return text("VersionId");
        }

        /** Returns whether it names more than a key and a version: an ETag, a size, or a time. */
        public boolean isConditional() {
            return fields.stream()
                    .anyMatch(field -> !field.name.equals("Key")
                            && !field.name.equals("VersionId"));
        }

        AccessControl.Deletion deletion() {
            return new AccessControl.Deletion(key(), versionId());
        }

        private @Nullable String text(String name) {
            return fields.stream()
                    .filter(field -> field.name.equals(name))
                    .map(Field::text)
                    .findFirst()
                    .orElse(null);
        }
    }

    private static XMLInputFactory factory() {
        XMLInputFactory factory = XMLInputFactory.newDefaultFactory();
        factory.setProperty(XMLInputFactory.SUPPORT_DTD, false);
        factory.setProperty(XMLInputFactory.IS_SUPPORTING_EXTERNAL_ENTITIES, false);
        return factory;
    }

    /** Parses a document; throws {@code S3Refusal} if it is not a deletion list. */
    public static DeletionList parse(byte[] document) {
        try {
            return parse(XML.createXMLStreamReader(new ByteArrayInputStream(document)));
        } catch (XMLStreamException | RuntimeException | Error e) {
            // The JDK's parser throws both on documents that are not well-formed.
            throw new S3Refusal(S3Error.MALFORMED_XML,
                    "The XML you provided was not well-formed or did not validate against our published schema");
        }
    }

    private static DeletionList parse(XMLStreamReader reader) throws XMLStreamException {
        List<Field> settings = new ArrayList<>();
        List<Entry> entries = new ArrayList<>();
        boolean inRoot = false;
        while (reader.hasNext()) {
            int event = reader.next();
            if (event == XMLStreamConstants.DTD || entries.size() > MAX_OBJECTS
                    || settings.size() > MAX_FIELDS) {
                throw new XMLStreamException("a document type, or too much");
            }
            if (event != XMLStreamConstants.START_ELEMENT) {
                continue;
            }
            if (!inRoot) {
                inRoot = true;
            } else if (reader.getLocalName().equals("Object")) {
                entries.add(new Entry(fields(reader)));
            } else {
                settings.add(new Field(reader.getLocalName(), reader.getElementText()));
            }
        }
        return new DeletionList(List.copyOf(settings), List.copyOf(entries));
    }

    /**
     * Reads an element's fields. No name may come twice: which of two keys or versions a store
     * would delete is unknown.
     */
    private static List<Field> fields(XMLStreamReader reader) throws XMLStreamException {
        List<Field> fields = new ArrayList<>();
        while (reader.next() != XMLStreamConstants.END_ELEMENT) {
            if (reader.isStartElement()) {
                String name = reader.getLocalName();
                if (fields.size() == MAX_FIELDS
                        || fields.stream().anyMatch(field -> field.name.equals(name))) {
                    throw new XMLStreamException("too many fields, or two of " + name);
                }
                fields.add(new Field(name, reader.getElementText()));
            }
        }
        if (fields.stream().noneMatch(field -> field.name.equals("Key"))) {
            throw new XMLStreamException("no key");
        }
        return List.copyOf(fields);
    }

    /** Writes a document that names these objects only. */
    byte[] asking(List<Entry> some) {
        StringBuilder xml = new StringBuilder(
                "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<Delete xmlns=\"" + NAMESPACE + "\">");
        append(xml, settings);
        for (Entry entry : some) {
            xml.append("<Object>");
            append(xml, entry.fields);
            xml.append("</Object>");
        }
        return xml.append("</Delete>").toString().getBytes(StandardCharsets.UTF_8);
    }

    /** Writes the whole response for a request of which every object was deleted. */
    public String deleted() {
        StringBuilder xml = new StringBuilder("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n"
                + "<DeleteResult xmlns=\"" + NAMESPACE + "\">");
        boolean isQuiet = settings.stream()
                .anyMatch(field -> field.name.equals("Quiet")
                        && field.text.strip().equalsIgnoreCase("true"));
        for (Entry entry : isQuiet ? List.<Entry>of() : entries) {
            xml.append("<Deleted>");
            ErrorXml.element(xml, "Key", entry.key());
            xml.append("</Deleted>");
        }
        return xml.append("</DeleteResult>").toString();
    }

    private static void append(StringBuilder xml, List<Field> fields) {
        fields.forEach(field -> ErrorXml.element(xml, field.name, field.text));
    }

    /** Writes the whole response for a request of which every key was refused. */
    static String refusing(List<Entry> denied) {
        return "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<DeleteResult xmlns=\"" + NAMESPACE
                + "\">" + errors(denied) + "</DeleteResult>";
    }

    /** Returns the keys that a store's response refuses; null if that is no deletion result. */
    public static @Nullable Set<String> tryRefused(byte[] answer) {
        try {
            XMLStreamReader reader = XML.createXMLStreamReader(new ByteArrayInputStream(answer));
            if (reader.nextTag() != XMLStreamConstants.START_ELEMENT
                    || !reader.getLocalName().equals("DeleteResult")) {
                return null;
            }
            return refused(reader);
        } catch (XMLStreamException | RuntimeException | Error e) {
            // The JDK's parser throws both on documents that are not well-formed.
            return null;
        }
    }

    private static Set<String> refused(XMLStreamReader reader) throws XMLStreamException {
        Set<String> keys = new HashSet<>();
        boolean inError = false;
        while (reader.hasNext()) {
            int event = reader.next();
            if (event == XMLStreamConstants.END_ELEMENT
                    && reader.getLocalName().equals("Error")) {
                inError = false;
            } else if (event == XMLStreamConstants.START_ELEMENT) {
                inError |= reader.getLocalName().equals("Error");
                if (inError && reader.getLocalName().equals("Key")) {
                    keys.add(reader.getElementText());
                }
            }
        }
        return keys;
    }

    /** Adds the refused keys to a store's response; null if that is no deletion result. */
    static @Nullable String merge(String answer, List<Entry> denied) {
        int end = answer.lastIndexOf("</DeleteResult");
        if (end >= 0) {
            return answer.substring(0, end) + errors(denied) + answer.substring(end);
        }
        int start = answer.lastIndexOf("<DeleteResult");
        int empty = answer.indexOf("/>", Math.max(start, 0));
        return start < 0 || empty < 0
                ? null
                : answer.substring(0, empty) + ">" + errors(denied) + "</DeleteResult>";
    }

    private static String errors(List<Entry> denied) {
        StringBuilder xml = new StringBuilder();
        for (Entry entry : denied) {
            xml.append("<Error>");
            ErrorXml.element(xml, "Key", entry.key());
            String versionId = entry.versionId();
            if (versionId != null) {
                ErrorXml.element(xml, "VersionId", versionId);
            }
            ErrorXml.element(xml, "Code", S3Error.ACCESS_DENIED.code());
            ErrorXml.element(xml, "Message", S3Error.ACCESS_DENIED.message());
            xml.append("</Error>");
        }
        return xml.toString();
    }
}
