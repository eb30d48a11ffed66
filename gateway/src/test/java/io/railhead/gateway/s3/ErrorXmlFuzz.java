package io.railhead.gateway.s3;

import static java.nio.charset.StandardCharsets.ISO_8859_1;
import static java.nio.charset.StandardCharsets.UTF_8;

import java.io.ByteArrayInputStream;
import java.io.IOException;
import javax.xml.parsers.DocumentBuilderFactory;
import javax.xml.parsers.ParserConfigurationException;
import org.w3c.dom.Element;
import org.xml.sax.SAXException;

/** What a client sent comes back in the error's document, and never as markup. */
public final class ErrorXmlFuzz {

    private ErrorXmlFuzz() {}

    public static void fuzzerTestOneInput(byte[] input) {
        check(new String(input, ISO_8859_1));
        check(new String(input, UTF_8));
    }

    private static void check(String sent) {
        String document = ErrorXml.render(new S3Refusal(S3Error.INVALID_ARGUMENT, sent), sent,
                "1", "h");
        Element root;
        try {
            root = DocumentBuilderFactory.newDefaultInstance()
                    .newDocumentBuilder()
                    .parse(new ByteArrayInputStream(document.getBytes(UTF_8)))
                    .getDocumentElement();
        } catch (IOException | SAXException | ParserConfigurationException e) {
            throw new AssertionError(document, e);
        }
        if (root.getChildNodes().getLength() != 5
                || root.getElementsByTagName("Resource").item(0).getChildNodes().getLength() > 1) {
            throw new AssertionError(document);
        }
    }
}
