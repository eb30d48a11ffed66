package io.railhead.gateway.trust;

import static java.nio.charset.StandardCharsets.ISO_8859_1;

import io.railhead.gateway.fill.StoredChecksum;
import io.railhead.gateway.fill.StoredChecksum.Crc;
import java.io.ByteArrayOutputStream;
import java.net.URLDecoder;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Base64;
import java.util.HashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.function.LongSupplier;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.zip.Checksum;
import org.jspecify.annotations.Nullable;

/**
 * The reference model of S3: one request at a time, each key with all versions that it ever had and
 * since when. Objects are {@link Content}; what is uploaded and is not all of one is a violation.
 */
public final class ReferenceStore implements FaultProxy.Upstream {
    /** The header that marks a version. */
    public static final String MARK = "x-amz-meta-mark";

    private static final Pattern RANGE = Pattern.compile("bytes=(\\d{1,9})-(\\d{1,18})?");
    private static final Pattern SUFFIX = Pattern.compile("bytes=-(\\d{1,9})");
    private static final String MODIFIED = "Fri, 20 Nov 2026 00:00:00 GMT";

    private final LongSupplier nanoClock;
    private final Set<String> unshared;
    private final List<String> accessKeys;
    private final Map<String, List<Version>> histories = new TreeMap<>();
    private final Map<String, Upload> uploads = new HashMap<>();
    private final Map<Right, List<Denial>> denials = new HashMap<>();
    private final List<String> violations = new ArrayList<>();
    private final Flips flips;
    private int uploadIds;
    private boolean tagsByParts;

    private record Upload(String path, long mark, TreeMap<Integer, byte[]> parts) {}

    /** To do anything with a bucket's objects. */
    private record Right(String accessKey, String bucket) {
        static Right of(String accessKey, String path) {
            return new Right(accessKey, path.split("/", 3)[1]);
        }
    }

    /** From when on somebody was denied it, or no longer. */
    private record Denial(boolean denied, long fromNanos) {}

    /** One whose buckets are shared by all. */
    public ReferenceStore(LongSupplier nanoClock) {
        this(nanoClock, Set.of(), List.of());
    }

    /**
     * @param nanoClock what the gateway sees, too
     * @param unshared buckets in which each account has objects of its own
     * @param accessKeys one of each principal's, whose account that is
     */
    public ReferenceStore(LongSupplier nanoClock, Set<String> unshared, List<String> accessKeys) {
        this.nanoClock = nanoClock;
        this.unshared = unshared;
        this.accessKeys = accessKeys;
        this.flips = new Flips(nanoClock);
    }

    /**
     * Names what is uploaded in parts as S3 does. Otherwise by the MD5 of its bytes, by which a
     * gateway verifies what it holds.
     */
    synchronized void tagByParts() {
        tagsByParts = true;
    }

    /** Where its object lies. */
    public String place(Operation operation) {
        return place(operation, operation.path());
    }

    /** Where that lies which its principal calls so. */
    String place(Operation operation, String path) {
        return unshared.contains(operation.bucket())
                ? accessKeys.get(operation.principal()) + path
                : path;
    }

    private String place(String accessKey, String path) {
        return unshared.contains(path.split("/", 3)[1]) ? accessKey + path : path;
    }

    public synchronized List<Version> history(String path) {
        return List.copyOf(histories.getOrDefault(path, List.of(Version.ABSENT)));
    }

    /** All keys that ever were and begin so. */
    synchronized List<String> paths(String prefix) {
        return histories.keySet().stream().filter(p -> p.startsWith(prefix)).toList();
    }

    /** Uploads that are not what a client sent. */
    public synchronized List<String> violations() {
        return List.copyOf(violations);
    }

    /** Written past the gateway. */
    public synchronized void putBehind(String path, @Nullable Content content, long mark) {
        append(path, content, mark, true);
    }

    /** Its metadata changed past the gateway: the same bytes under the same ETag. */
    public synchronized void markBehind(String path, long mark) {
        Version current = current(path);
        if (current.content() != null) {
            append(path, current.content(), mark, true);
        }
    }

    public synchronized void permit(String accessKey, String bucket, boolean permitted) {
        denials.computeIfAbsent(new Right(accessKey, bucket), ignored -> new ArrayList<>())
                .add(new Denial(!permitted, nanoClock.getAsLong()));
    }

    /** Whether it was so of a path's bucket at any moment between. */
    synchronized boolean wasPermitted(String accessKey, String path, boolean permitted,
            long fromNanos, long toNanos) {
        boolean state = true;
        long since = Long.MIN_VALUE;
        for (Denial denial : denials.getOrDefault(Right.of(accessKey, path),
                List.of())) {
            if (state == permitted && since <= toNanos && denial.fromNanos >= fromNanos) {
                return true;
            }
            state = !denial.denied;
            since = denial.fromNanos;
        }
        return state == permitted && since <= toNanos;
    }

    private boolean isDenied(Message request) {
        List<Denial> all = denials.get(Right.of(request.accessKey(), request.path()));
        return all != null && all.getLast().denied;
    }

    private Version current(String path) {
        return histories.getOrDefault(path, List.of(Version.ABSENT)).getLast();
    }

    private void append(String path, @Nullable Content content, long mark, boolean behind) {
        append(path, content, content == null ? "" : content.etag(), mark, behind);
    }

    private void append(String path, @Nullable Content content, String etag, long mark,
            boolean behind) {
        List<Version> history = histories.computeIfAbsent(path, ignored -> new ArrayList<>());
        if (history.isEmpty()) {
            history.add(Version.ABSENT);
        }
        history.add(new Version(content, etag, mark, nanoClock.getAsLong(), behind));
    }

    @Override
    public synchronized void changed(Message request, Message sent, Message arrives) {
        flips.changed(placed(request), sent, arrives);
    }

    /** These bytes of a path's, with the bits put right that changed on the way from then on. */
    public synchronized byte[] righted(String path, Content content, byte[] bytes, int first,
            long fromNanos) {
        return flips.righted(path, content, bytes, first, fromNanos);
    }

    /** One request, whole, before the next. */
    @Override
    public synchronized Message ask(Message request) {
        return isDenied(request) ? Message.error(403, "AccessDenied") : answer(placed(request));
    }

    /** As who asks means it. */
    private Message placed(Message request) {
        return request.at(place(request.accessKey(), request.path()));
    }

    private Message answer(Message request) {
        return switch (request.method()) {
            case "PUT" -> put(request);
            case "POST" -> post(request);
            case "DELETE" -> delete(request);
            default -> switch (request.query()) {
                case "versioning" -> Message.answer(200,
                        "<VersioningConfiguration/>".getBytes(ISO_8859_1));
                case "encryption" -> Message.error(404,
                        "ServerSideEncryptionConfigurationNotFoundError");
                default -> request.query().contains("list-type=2") ? list(request) : read(request);
            };
        };
    }

    private Message delete(Message request) {
        if (request.query().contains("uploadId=")) {
            uploads.remove(parameter(request, "uploadId"));
        } else {
            append(request.path(), null, mark(request), false);
        }
        return Message.answer(204, new byte[0]);
    }

    private Message put(Message request) {
        String source = request.header("x-amz-copy-source");
        if (source != null) {
            return copy(request, source);
        }
        if (!request.query().contains("uploadId=")) {
            return store(request.path(), request.body(), Content.etag(request.body()),
                    mark(request));
        }
        Upload upload = uploads.get(parameter(request, "uploadId"));
        if (upload == null) {
            return Message.error(404, "NoSuchUpload");
        }
        int number = Integer.parseInt(parameter(request, "partNumber"));
        upload.parts.put(number, request.body());
        return Message.answer(200, new byte[0]).with("ETag", Content.etag(request.body()));
    }

    private Message store(String path, byte[] body, String etag, long mark) {
        Content content = Content.of(body);
        if (!content.matches(body, 0) || !content.isWhole()) {
            violations.add("stored at " + path + ": " + body.length + " bytes, beginning as "
                    + content);
            return Message.error(400, "IncompleteBody");
        }
        append(path, content, etag, mark, false);
        return Message.answer(200, new byte[0]).with("ETag", etag);
    }

    private Message copy(Message request, String source) {
        String from = place(request.accessKey(), source.startsWith("/") ? source : "/" + source);
        Content content = current(from).content();
        if (content == null) {
            return Message.error(404, "NoSuchKey");
        }
        append(request.path(), content, mark(request), false);
        return Message.answer(200, ("<CopyObjectResult><ETag>" + current(request.path()).etag()
                + "</ETag></CopyObjectResult>").getBytes(ISO_8859_1));
    }

    private Message post(Message request) {
        if (request.query().contains("uploads")) {
            String id = "u" + ++uploadIds;
            uploads.put(id, new Upload(request.path(), mark(request), new TreeMap<>()));
            return Message.answer(200, ("<InitiateMultipartUploadResult><UploadId>" + id
                    + "</UploadId></InitiateMultipartUploadResult>").getBytes(ISO_8859_1));
        }
        Upload upload = uploads.remove(parameter(request, "uploadId"));
        if (upload == null) {
            return Message.error(404, "NoSuchUpload");
        }
        ByteArrayOutputStream whole = new ByteArrayOutputStream();
        upload.parts.values().forEach(whole::writeBytes);
        byte[] bytes = whole.toByteArray();
        Message stored = store(upload.path, bytes,
                tagsByParts ? Content.etag(upload.parts.values()) : Content.etag(bytes),
                upload.mark);
        return stored.status() == 200
                ? stored.withBody(("<CompleteMultipartUploadResult><ETag>" + stored.header("etag")
                        + "</ETag></CompleteMultipartUploadResult>").getBytes(ISO_8859_1))
                : stored;
    }

    private static long mark(Message request) {
        String mark = request.header(MARK);
        return mark == null ? 0 : Long.parseLong(mark);
    }

    private static String parameter(Message request, String name) {
        for (String parameter : request.query().split("&", -1)) {
            if (parameter.startsWith(name + "=")) {
                return URLDecoder.decode(parameter.substring(name.length() + 1),
                        StandardCharsets.UTF_8);
            }
        }
        return "";
    }

    private Message list(Message request) {
        String bucket = request.path().endsWith("/") ? request.path() : request.path() + "/";
        String prefix = parameter(request, "prefix");
        StringBuilder xml = new StringBuilder("<ListBucketResult><IsTruncated>false</IsTruncated>");
        histories.forEach((path, history) -> {
            Content content = history.getLast().content();
            if (content != null && path.startsWith(bucket + prefix)) {
                xml.append("<Contents><Key>" + path.substring(bucket.length()) + "</Key><ETag>"
                        + history.getLast().etag() + "</ETag><Size>" + content.sizeBytes()
                        + "</Size></Contents>");
            }
        });
        return Message.answer(200,
                xml.append("</ListBucketResult>").toString().getBytes(ISO_8859_1));
    }

    private Message read(Message request) {
        Version current = current(request.path());
        Content content = current.content();
        if (content == null) {
            return Message.error(404, "NoSuchKey");
        }
        String ifMatch = request.header("if-match");
        if (ifMatch != null && !ifMatch.equals(current.etag())) {
            return Message.error(412, "PreconditionFailed");
        }
        Message answer = range(request.header("range"), content)
                .with("ETag", current.etag())
                .with("Last-Modified", MODIFIED)
                .with(MARK, Long.toString(current.mark()));
        if (!request.method().equals("HEAD")) {
            return answer;
        }
        Message described = answer.with("Content-Length", Integer.toString(answer.body().length));
        return "ENABLED".equals(request.header("x-amz-checksum-mode"))
                ? withChecksum(described, content)
                : described;
    }

    /** Each object has one of all of it, of any of the three kinds. */
    private static Message withChecksum(Message described, Content content) {
        Crc[] all = Crc.values();
        Crc crc = all[Math.floorMod(content.id(), all.length)];
        Checksum sum = new StoredChecksum(crc, 0).part();
        sum.update(content.bytes());
        byte[] value = ByteBuffer.allocate(Long.BYTES).putLong(sum.getValue()).array();
        int from = crc == Crc.CRC64NVME ? 0 : Integer.BYTES;
        return described.with("x-amz-checksum-" + crc.name().toLowerCase(Locale.ROOT),
                Base64.getEncoder()
                        .encodeToString(Arrays.copyOfRange(value, from, value.length)));
    }

    private static Message range(@Nullable String range, Content content) {
        Matcher between = RANGE.matcher(range == null ? "" : range);
        Matcher suffix = SUFFIX.matcher(range == null ? "" : range);
        int size = content.sizeBytes();
        int first;
        int last = size - 1;
        if (between.matches()) {
            first = Integer.parseInt(between.group(1));
            String to = between.group(2);
            last = to == null ? last : (int) Math.min(last, Long.parseLong(to));
        } else if (suffix.matches()) {
            first = Math.max(0, size - Integer.parseInt(suffix.group(1)));
        } else {
            return Message.answer(200, content.bytes());
        }
        if (first >= size) {
            return Message.error(416, "InvalidRange");
        }
        return Message.answer(206, Arrays.copyOfRange(content.bytes(), first, last + 1))
                .with("Content-Range", "bytes " + first + "-" + last + "/" + size);
    }
}
