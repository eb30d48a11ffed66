package io.railhead.gateway.object.writeback;

import io.railhead.backend.BackendResponse;
import io.railhead.backend.FixedBody;
import io.railhead.backend.Headers;
import io.railhead.gateway.s3.ErrorXml;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** The documents of multipart uploads: answers to clients, and the store's list of parts. */
final class UploadXml {
    private static final String NAMESPACE = "http://s3.amazonaws.com/doc/2006-03-01/";

    private UploadXml() {}

    /** Returns the element's name of a checksum, such as ChecksumCRC32. */
    static String sumElement(String header) {
        return "Checksum" + header.substring(header.lastIndexOf('-') + 1).toUpperCase(Locale.ROOT);
    }

    private static StringBuilder begin(String root) {
        return new StringBuilder("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<").append(root)
                .append(" xmlns=\"")
                .append(NAMESPACE)
                .append("\">");
    }

    private static BackendResponse answer(StringBuilder xml, String root, Headers more) {
        byte[] document = xml.append("</")
                .append(root)
                .append('>')
                .toString()
                .getBytes(StandardCharsets.UTF_8);
        Headers headers = more.toBuilder()
                .add("content-type", "application/xml")
                .add("content-length", Integer.toString(document.length))
                .build();
        return new BackendResponse(200, headers, new FixedBody(ByteBuffer.wrap(document)));
    }

    private static void name(StringBuilder xml, PendingName name) {
        ErrorXml.element(xml, "Bucket", name.bucket());
        ErrorXml.element(xml, "Key", name.key());
    }

    static BackendResponse begun(OpenUpload upload) {
        String root = "InitiateMultipartUploadResult";
        StringBuilder xml = begin(root);
        name(xml, upload.head().name());
        ErrorXml.element(xml, "UploadId", upload.id());
        Headers.Builder headers = Headers.builder();
        upload.head().headers().forEach((header, value) -> {
            if (header.startsWith(PutHeaders.CHECKSUM)) {
                headers.add(header, value);
            }
        });
        return answer(xml, root, headers.build());
    }

    /** @param level "disk" or "store" */
    static BackendResponse completed(LogRecord.Write write, String level) {
        String root = "CompleteMultipartUploadResult";
        StringBuilder xml = begin(root);
        PendingName name = write.head().name();
        ErrorXml.element(xml, "Location", "/" + name.bucket() + "/" + name.rawKey());
        name(xml, name);
        ErrorXml.element(xml, "ETag", write.etag());
        for (Map.Entry<String, String> header : write.head().headers().entrySet()) {
            if (PutHeaders.isSum(header.getKey())) {
                ErrorXml.element(xml, sumElement(header.getKey()), header.getValue());
                ErrorXml.element(xml, "ChecksumType", "COMPOSITE");
            }
        }
        return answer(xml, root,
                Headers.builder().add(PutHeaders.ACKNOWLEDGED, level).build());
    }

    static BackendResponse copied(String etag, long atMillis) {
        String root = "CopyPartResult";
        StringBuilder xml = begin(root);
        ErrorXml.element(xml, "LastModified", time(atMillis));
        ErrorXml.element(xml, "ETag", etag);
        return answer(xml, root,
                Headers.builder().add(PutHeaders.ACKNOWLEDGED, "disk").build());
    }

    /**
     * Lists the parts of an upload.
     *
     * @param after the number behind which the page begins
     * @param most the most parts of a page
     */
    static BackendResponse parts(OpenUpload upload, int after, int most) {
        List<LogPart> left = upload.parts().stream().filter(part -> part.number() > after).toList();
        List<LogPart> page = left.subList(0, Math.min(most, left.size()));
        String root = "ListPartsResult";
        StringBuilder xml = begin(root);
        name(xml, upload.head().name());
        ErrorXml.element(xml, "UploadId", upload.id());
        ErrorXml.element(xml, "PartNumberMarker", Integer.toString(after));
        ErrorXml.element(xml, "NextPartNumberMarker",
                Integer.toString(page.isEmpty() ? after : page.getLast().number()));
        ErrorXml.element(xml, "MaxParts", Integer.toString(most));
        ErrorXml.element(xml, "IsTruncated", Boolean.toString(page.size() < left.size()));
        ErrorXml.element(xml, "StorageClass", "STANDARD");
        String sumHeader = upload.sumHeader();
        for (LogPart part : page) {
            xml.append("<Part>");
            ErrorXml.element(xml, "LastModified", time(part.record().atMillis()));
            ErrorXml.element(xml, "Size", Long.toString(part.sizeBytes()));
            part(xml, part, part.etag(), sumHeader);
        }
        return answer(xml, root, Headers.NONE);
    }

    /** Appends what names a part, and the end of its element. */
    private static void part(StringBuilder xml, LogPart part, String etag,
            @Nullable String sumHeader) {
        ErrorXml.element(xml, "PartNumber", Integer.toString(part.number()));
        ErrorXml.element(xml, "ETag", etag);
        if (sumHeader != null) {
            ErrorXml.element(xml, sumElement(sumHeader), part.sum());
        }
        xml.append("</Part>");
    }

    /**
     * Writes the list by which the store completes an upload.
     *
     * @param etags what the store has called the parts, by their numbers
     */
    static byte[] completion(List<LogPart> parts, Map<Integer, String> etags,
            @Nullable String sumHeader) {
        String root = "CompleteMultipartUpload";
        StringBuilder xml = begin(root);
        for (LogPart part : parts) {
            xml.append("<Part>");
            part(xml, part, etags.getOrDefault(part.number(), part.etag()), sumHeader);
        }
        return xml.append("</")
                .append(root)
                .append('>')
                .toString()
                .getBytes(StandardCharsets.UTF_8);
    }

    private static String time(long millis) {
        return Instant.ofEpochMilli(millis).truncatedTo(ChronoUnit.SECONDS).toString();
    }
}
