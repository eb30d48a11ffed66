package io.railhead.gateway;

import java.io.ByteArrayOutputStream;
import java.nio.charset.StandardCharsets;
import java.util.HexFormat;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/** The multipart uploads of {@link FakeStore}. */
public final class FakeStoreUploads {
    private static final String PREFIX = "fake-";
    private static final Pattern ID = Pattern.compile("(?:^|&)uploadId=(" + PREFIX + "\\d+)");
    private static final Pattern NUMBER = Pattern.compile("(?:^|&)partNumber=(\\d{1,5})");
    private static final Pattern LISTED = Pattern
            .compile("<PartNumber>(\\d+)</PartNumber><ETag>&quot;([0-9a-f]+)&quot;</ETag>");

    private final Map<String, Map<Integer, byte[]>> open = new ConcurrentHashMap<>();
    private final AtomicInteger last = new AtomicInteger();

    /** Returns the document of a new upload. */
    String begin() {
        String id = PREFIX + last.incrementAndGet();
        open.put(id, new ConcurrentHashMap<>());
        return "<InitiateMultipartUploadResult><UploadId>" + id
                + "</UploadId></InitiateMultipartUploadResult>";
    }

    public int open() {
        return open.size();
    }

    public void forget() {
        open.clear();
    }

    /** Returns whether a query names an upload of this kind, which may have ended. */
    static boolean isOurs(String query) {
        return ID.matcher(query).find();
    }

    private static String id(String query) {
        Matcher id = ID.matcher(query);
        return id.find() ? id.group(1) : "";
    }

    /** Keeps a part; false if there is no such upload. */
    boolean put(String query, byte[] body) {
        Map<Integer, byte[]> parts = open.get(id(query));
        Matcher number = NUMBER.matcher(query);
        if (parts == null || !number.find()) {
            return false;
        }
        parts.put(Integer.parseInt(number.group(1)), body);
        return true;
    }

    /** A completed object. */
    @SuppressWarnings("ArrayRecordComponent")
    record Whole(byte[] bytes, String etag) {}

    /** Ends an upload; null if there is none such, or its parts are others. */
    @Nullable
    Whole complete(String query, byte[] list) {
        Map<Integer, byte[]> parts = open.get(id(query));
        if (parts == null) {
            return null;
        }
        ByteArrayOutputStream bytes = new ByteArrayOutputStream();
        ByteArrayOutputStream sums = new ByteArrayOutputStream();
        Matcher listed = LISTED.matcher(new String(list, StandardCharsets.UTF_8));
        int count = 0;
        while (listed.find()) {
            byte[] part = parts.get(Integer.valueOf(listed.group(1)));
            if (part == null || !FakeStore.etag(part).equals('"' + listed.group(2) + '"')) {
                return null;
            }
            bytes.writeBytes(part);
            sums.writeBytes(HexFormat.of().parseHex(listed.group(2)));
            count++;
        }
        open.remove(id(query));
        String etag = FakeStore.etag(sums.toByteArray());
        return new Whole(bytes.toByteArray(),
                etag.substring(0, etag.length() - 1) + '-' + count + '"');
    }
}
