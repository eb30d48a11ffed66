package io.railhead.client;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import software.amazon.awssdk.http.SdkHttpMethod;

/** Multipart uploads of a store, which keeps them until they are completed or aborted. */
final class Uploads {
    private static final int DOCUMENT_LIMIT = 16 << 20;
    private static final String UNKNOWN = "NoSuchUpload";

    private final S3Http http;

    Uploads(S3Http http) {
        this.http = http;
    }

    MultipartUpload begin(ObjectName name, long partBytes) throws IOException {
        Call call = Call.to(SdkHttpMethod.POST, name).query("uploads", "").body(Call.Body.EMPTY);
        try (HttpAnswer answer = http.require(call)) {
            return new MultipartUpload(name,
                    S3Documents.parse(answer.readDocument(DOCUMENT_LIMIT), "").require("UploadId"),
                    partBytes);
        }
    }

    /** Returns the arrived parts by number; empty if the store knows no such upload. */
    Optional<Map<Integer, UploadedPart>> findParts(MultipartUpload upload) throws IOException {
        Map<Integer, UploadedPart> parts = new HashMap<>();
        try {
            int last = 0;
            do {
                last = addPage(upload, last, parts);
            } while (last > 0);
            return Optional.of(parts);
        } catch (S3Exception e) {
            if (e.code().equals(UNKNOWN)) {
                return Optional.empty();
            }
            throw e;
        }
    }

    /** Adds the parts after {@code last}; returns where the next page begins, 0 at the end. */
    private int addPage(MultipartUpload upload, int last, Map<Integer, UploadedPart> parts)
            throws IOException {
        Call call = of(SdkHttpMethod.GET, upload);
        if (last > 0) {
            call = call.query("part-number-marker", Integer.toString(last));
        }
        var page = S3Documents.parse(http.document(call, DOCUMENT_LIMIT), "Part");
        for (Map<String, String> entry : page.entries()) {
            parts.put((int) Listings.number(Listings.text(entry, "PartNumber")),
                    UploadedPart.of(entry));
        }
        if (!Boolean.parseBoolean(page.fields().get("IsTruncated"))) {
            return 0;
        }
        int next = (int) Listings.number(page.require("NextPartNumberMarker"));
        if (next <= last) {
            throw new PermanentException("the store's listing does not advance");
        }
        return next;
    }

    /**
     * Completes an upload; returns the object's ETag. Throws {@link OutcomeUnknownException} if no
     * response came.
     */
    String complete(MultipartUpload upload, List<String> etags) throws IOException {
        StringBuilder xml = new StringBuilder("<CompleteMultipartUpload>");
        for (int i = 0; i < etags.size(); i++) {
            xml.append("<Part><PartNumber>")
                    .append(i + 1)
                    .append("</PartNumber><ETag>")
                    .append(etags.get(i).replace("&", "&amp;").replace("<", "&lt;"))
                    .append("</ETag></Part>");
        }
        xml.append("</CompleteMultipartUpload>");
        Call call = of(SdkHttpMethod.POST, upload)
                .header("Content-Type", "application/xml")
                .body(Call.Body.of(xml.toString().getBytes(StandardCharsets.UTF_8)));
        try (HttpAnswer answer = http.requireOnce(call, upload.name())) {
            var document = outcome(upload, answer);
            // The status is sent before the outcome is known, so a 200 may contain an error.
            if (document.root().equals("Error")) {
                Map<String, String> fields = document.fields();
                throw new OutcomeUnknownException(upload.name(),
                        new S3Exception(500, fields.getOrDefault("Code", "InternalError"),
                                fields.getOrDefault("Message", "")));
            }
            return document.require("ETag");
        }
    }

    private static S3Documents.Document outcome(MultipartUpload upload, HttpAnswer answer)
            throws IOException {
        try {
            return S3Documents.parse(answer.readDocument(DOCUMENT_LIMIT), "");
        } catch (IOException e) {
            throw new OutcomeUnknownException(upload.name(), e);
        }
    }

    /** Aborts an upload. One that the store does not know counts as aborted. */
    void abort(MultipartUpload upload) throws IOException {
        try {
            http.document(of(SdkHttpMethod.DELETE, upload), DOCUMENT_LIMIT);
        } catch (S3Exception e) {
            if (!e.code().equals(UNKNOWN)) {
                throw e;
            }
        }
    }

    private static Call of(SdkHttpMethod method, MultipartUpload upload) {
        return Call.to(method, upload.name()).query("uploadId", upload.id());
    }
}
