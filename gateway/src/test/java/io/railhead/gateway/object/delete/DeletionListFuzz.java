package io.railhead.gateway.object.delete;

import io.railhead.gateway.authorization.AccessControl;
import io.railhead.gateway.s3.S3Error;
import io.railhead.gateway.s3.S3Refusal;
import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import javax.xml.parsers.DocumentBuilder;
import javax.xml.parsers.DocumentBuilderFactory;
import javax.xml.parsers.ParserConfigurationException;
import org.jspecify.annotations.Nullable;
import org.w3c.dom.Element;
import org.w3c.dom.NodeList;
import org.xml.sax.SAXException;

/** Documents of DeleteObjects: refused, or read as another reader of XML does. */
public final class DeletionListFuzz {

    private DeletionListFuzz() {}

    public static void fuzzerTestOneInput(byte[] input) {
        List<AccessControl.Deletion> deletions;
        try {
            deletions = DeletionList.parse(input)
                    .entries()
                    .stream()
                    .map(DeletionList.Entry::deletion)
                    .toList();
        } catch (S3Refusal e) {
            require(e.error() == S3Error.MALFORMED_XML);
            return;
        }
        try {
            require(deletions.equals(byDom(input)));
        } catch (SAXException e) {
            throw new AssertionError("no document to another reader", e);
        }
    }

    private static List<AccessControl.Deletion> byDom(byte[] input) throws SAXException {
        NodeList objects;
        try {
            objects = builder().parse(new ByteArrayInputStream(input))
                    .getElementsByTagNameNS("*", "Object");
        } catch (IOException | ParserConfigurationException e) {
            throw new AssertionError(e);
        }
        List<AccessControl.Deletion> deletions = new ArrayList<>();
        for (int i = 0; i < objects.getLength(); i++) {
            Element object = (Element) objects.item(i);
            String key = text(object, "Key");
            if (key != null && object.getParentNode() instanceof Element) {
                deletions.add(new AccessControl.Deletion(key, text(object, "VersionId")));
            }
        }
        return deletions;
    }

    private static DocumentBuilder builder() throws ParserConfigurationException {
        DocumentBuilderFactory factory = DocumentBuilderFactory.newDefaultNSInstance();
        factory.setFeature("http://apache.org/xml/features/disallow-doctype-decl", true);
        DocumentBuilder builder = factory.newDocumentBuilder();
        builder.setErrorHandler(null);
        return builder;
    }

    private static @Nullable String text(Element object, String name) {
        for (var child = object.getFirstChild(); child != null; child = child.getNextSibling()) {
            if (child instanceof Element element && name.equals(element.getLocalName())) {
                return element.getTextContent();
            }
        }
        return null;
    }

    private static void require(boolean kept) {
        if (!kept) {
            throw new AssertionError();
        }
    }
}
