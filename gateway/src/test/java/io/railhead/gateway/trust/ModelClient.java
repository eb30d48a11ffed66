package io.railhead.gateway.trust;

import io.railhead.gateway.TestClient;
import io.railhead.gateway.TestPeer;
import io.railhead.gateway.trust.Observation.Way;
import io.railhead.protocol.channel.Answer;
import io.railhead.protocol.channel.Request;
import io.railhead.protocol.channel.RequestRange;
import java.net.http.HttpClient;
import java.net.http.HttpResponse;
import java.net.http.HttpTimeoutException;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.Base64;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CancellationException;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * Does one operation of a history as a client does, and says what it saw. Any thread that may
 * block. One class: a case for each kind of operation, over the same connections and buffers.
 */
final class ModelClient {
    private static final Pattern LISTED = Pattern
            .compile("<Key>([^<]+)</Key><ETag>([^<]+)</ETag>");
    private static final String AT_DISK = "railhead-disk-";
    private static final Pattern UPLOAD = Pattern.compile("<UploadId>([^<]+)</UploadId>");
    private static final Pattern RANGE = Pattern.compile("bytes (\\d+)-(\\d+)/(\\d+)");
    private static final String ACKNOWLEDGED = "x-railhead-acknowledged";
    private static final int PATIENCE_SECONDS = 60;
    /** In microseconds: who leaves has nothing by then, some of it, or all. */
    private static final int LONGEST_STAY = 50_000;

    private final HttpClient http;
    private final List<TestClient> clients;
    private final ModelPeers peers;
    private final ReferenceStore store;
    private final ModelBuffers buffers;

    ModelClient(HttpClient http, List<TestClient> clients, ModelPeers peers,
            ReferenceStore store) {
        this.http = http;
        this.clients = clients;
        this.peers = peers;
        this.store = store;
        this.buffers = new ModelBuffers(store);
    }

    Observation observe(Operation operation) {
        try {
            return switch (operation.kind()) {
                case GET -> read(operation, send(operation, "GET", new byte[0], range(operation)));
                case GET_BY_TOKEN -> readByToken(operation);
                case GET_BY_CHANNEL -> readByChannel(operation, false);
                case GET_AND_CANCEL -> readByChannel(operation, true);
                case GET_AND_LEAVE -> leave(operation);
                case HEAD -> described(send(operation, "HEAD", new byte[0]));
                case HEAD_BY_CHANNEL -> describedByChannel(operation);
                case LIST -> listed(send(operation, "GET", "/" + operation.bucket()
                        + "?list-type=2", new byte[0]));
                case PUT -> written(send(operation, "PUT", bytes(operation), mark(operation)));
                case PUT_BY_TOKEN -> writtenByToken(operation);
                case PUT_BY_CHANNEL -> writtenByChannel(operation);
                case PUT_WITH_WRONG_CHECKSUM -> wrong(operation);
                case MULTIPART -> inParts(operation);
                case COPY -> written(send(operation, "PUT", new byte[0], ReferenceStore.MARK,
                        Long.toString(operation.mark()), "x-amz-metadata-directive", "REPLACE",
                        "x-amz-copy-source", operation.source()));
                case DELETE -> written(send(operation, "DELETE", new byte[0], mark(operation)));
                case PUT_BEHIND, DELETE_BEHIND, MARK_BEHIND -> behind(operation);
            };
        } catch (CompletionException e) {
            return unanswered(e.getCause());
        }
    }

    /** The gateway gives up in time, whatever has failed: nobody need give it up. */
    static Observation unanswered(@Nullable Throwable why) {
        return why instanceof TimeoutException || why instanceof HttpTimeoutException
                ? new Observation.Wrong("I3: no answer within " + PATIENCE_SECONDS + " s")
                : new Observation.Failed(String.valueOf(why));
    }

    /** What somebody has to whom nobody said anything, once nothing moves any more. */
    Observation untold(Operation operation) {
        return buffers.unanswered(operation, peers.answered(operation));
    }

    private Observation behind(Operation operation) {
        String place = store.place(operation);
        switch (operation.kind()) {
            case MARK_BEHIND -> store.markBehind(place, operation.mark());
            case DELETE_BEHIND -> store.putBehind(place, null, operation.mark());
            default -> store.putBehind(place, operation.content(), operation.mark());
        }
        return new Observation.Written();
    }

    private TestClient client(Operation operation) {
        return clients.get(operation.principal());
    }

    private Arrived send(Operation operation, String method, byte[] body, String... headers) {
        return send(operation, method, operation.path(), body, headers);
    }

    private Arrived send(Operation operation, String method, String target, byte[] body,
            String... headers) {
        Arrival arrival = new Arrival();
        return arrival.of(http.sendAsync(
                client(operation).signed(method, target, body, headers), arrival))
                .orTimeout(PATIENCE_SECONDS, TimeUnit.SECONDS)
                .join();
    }

    private static byte[] bytes(Operation operation) {
        Content content = operation.content();
        return content == null ? new byte[0] : content.bytes();
    }

    private static String[] range(Operation operation) {
        return operation.isRanged()
                ? new String[]{"Range", "bytes=" + operation.first() + "-"
                        + (operation.first() + operation.length() - 1)}
                : new String[0];
    }

    private static String[] mark(Operation operation) {
        return new String[]{ReferenceStore.MARK, Long.toString(operation.mark())};
    }

    /** What every operation may be told; null for success, and for what is none of these. */
    private static @Nullable Observation refusal(int status, String text) {
        return switch (status) {
            case 403 -> text.contains("RDMATokenReplayed")
                    // The JDK's client asks again by itself where a connection broke.
                    ? new Observation.Failed(text)
                    : new Observation.Refused(text, false);
            case 404 -> new Observation.Absent();
            case 416 -> new Observation.Unsatisfiable();
            case 412, 409 -> new Observation.Failed(status + " " + text);
            default -> status >= 500
                    ? new Observation.Failed(status + " " + text)
                    : status >= 300 ? new Observation.Wrong(status + " " + text) : null;
        };
    }

    /** Also that the answer of a success was cut: nobody is told what it would have said. */
    private static @Nullable Observation failure(Arrived answer) {
        Observation refusal = refusal(answer);
        return refusal != null || answer.whole() ? refusal : new Observation.Failed("cut");
    }

    private static @Nullable Observation refusal(Arrived answer) {
        return refusal(answer.status(), answer.status() < 300
                ? ""
                : new String(answer.body(), StandardCharsets.UTF_8));
    }

    private static long markOf(Arrived answer) {
        String mark = answer.header(ReferenceStore.MARK);
        return mark.isEmpty() ? 0 : Long.parseLong(mark);
    }

    private static Observation read(Operation operation, Arrived answer) {
        return read(operation, answer, answer.body(),
                isRelayed(answer) ? Way.RELAYED : Way.IN_A_BODY);
    }

    private static Observation read(Operation operation, Arrived answer, byte[] body,
            Way way) {
        Observation refusal = refusal(answer);
        if (refusal != null) {
            return refusal;
        }
        Matcher range = RANGE.matcher(answer.header("content-range"));
        if (answer.status() == 206 && range.matches()) {
            int first = Integer.parseInt(range.group(1));
            int last = Integer.parseInt(range.group(2));
            return last - first + 1 == body.length || !answer.whole()
                    ? come(answer, Long.parseLong(range.group(3)), first, body, way)
                    : new Observation.Wrong("I2: " + body.length + " bytes as " + range.group());
        }
        if (operation.isRanged() && isRelayed(answer)) {
            // The store's own answer, which a client takes for what it says that it is.
            return read(operation.withoutRange(), answer, body, Way.RELAYED);
        }
        if (answer.status() == 206 || operation.isRanged()) {
            return new Observation.Wrong(answer.status() + " to a range, " + answer.headers());
        }
        long size = answer.whole() ? body.length : Long.parseLong(answer.header("content-length"));
        return come(answer, size, 0, body, way);
    }

    private static Observation come(Arrived answer, long size, int first, byte[] body, Way way) {
        Observation.Read read = new Observation.Read(answer.header("etag"), markOf(answer), size,
                first, body, way);
        return answer.whole() ? read : new Observation.Cut(read, false);
    }

    private static boolean isRelayed(Arrived answer) {
        return answer.header("x-cache").equals("BYPASS");
    }

    private Observation readByToken(Operation operation) {
        peers.mark(operation);
        Arrived answer = send(operation, "GET", new byte[0], peers.of(operation)
                .headers(ModelPeers.offset(operation), operation.window(), range(operation)));
        if (refusal(answer) instanceof Observation.Failed failed && answer.status() == 403) {
            return failed; // The first answer got lost, and with it what may be said of the buffer.
        }
        byte[] buffer = peers.answered(operation);
        int moved = answer.headers()
                .firstValue("x-amz-rdma-bytes-transferred")
                .map(Integer::parseInt)
                .orElse(0);
        if (answer.status() >= 300 || answer.header("x-amz-rdma-reply").isEmpty()) {
            Observation unmoved = buffers.unmoved(operation, buffer,
                    ModelBuffers.mayHaveBegun(answer.status()));
            return unmoved != null
                    ? unmoved
                    : ModelBuffers.ended(read(operation, answer), buffer);
        }
        Observation behind = buffers.behind(operation, buffer, moved);
        return behind != null
                ? behind
                : read(operation, answer, Arrays.copyOf(buffer, moved),
                        isRelayed(answer) ? Way.RELAYED_INTO_A_BUFFER : Way.INTO_A_BUFFER);
    }

    private Observation readByChannel(Operation operation, boolean cancelled) {
        peers.mark(operation);
        TestPeer peer = peers.of(operation);
        int id = 1_000_000 + operation.slot();
        Request request = Request
                .get(id, operation.bucket(), operation.key(), peer.key(),
                        ModelPeers.offset(operation), operation.window())
                .withRange(operation.isRanged()
                        ? new RequestRange.Between(operation.first(),
                                operation.first() + operation.length() - 1)
                        : RequestRange.ALL);
        CompletableFuture<Answer> sent = peer.send(request);
        if (cancelled) {
            peer.cancel(id);
        }
        Answer answer = await(sent);
        if (answer == null) {
            return new Observation.Failed("no answer");
        }
        byte[] buffer = peers.answered(operation);
        if (!answer.isSuccess()) {
            Observation unmoved = buffers.unmoved(operation, buffer,
                    answer.code().equals(Answer.CANCELLED)
                            || ModelBuffers.mayHaveBegun(answer.status()));
            return unmoved != null ? unmoved : ModelBuffers.ended(refused(answer), buffer);
        }
        int moved = (int) answer.bytesMoved();
        Observation behind = buffers.behind(operation, buffer, moved);
        return behind != null
                ? behind
                : new Observation.Read(answer.etag(), -1, answer.objectSize(),
                        (int) answer.firstByte(), Arrays.copyOf(buffer, moved),
                        Way.INTO_A_BUFFER);
    }

    private static @Nullable Answer await(CompletableFuture<Answer> sent) {
        try {
            return sent.get(PATIENCE_SECONDS, TimeUnit.SECONDS);
        } catch (ExecutionException e) {
            return null;
        } catch (TimeoutException e) {
            throw new AssertionError("I3: no answer within " + PATIENCE_SECONDS + " s", e);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            return null;
        }
    }

    private static Observation refused(Answer answer) {
        if (answer.status() == 0) {
            return new Observation.Declined(answer.code());
        }
        Observation refusal = refusal(answer.status(), answer.code() + " " + answer.message());
        return refusal != null ? refusal : new Observation.Wrong(answer.toString());
    }

    private Observation leave(Operation operation) {
        Arrival arrival = new Arrival();
        CompletableFuture<HttpResponse<Arrived>> sent = http.sendAsync(
                client(operation).signed("GET", operation.path(), new byte[0]), arrival);
        try {
            return read(operation,
                    sent.get(operation.mark() * 997 % LONGEST_STAY, TimeUnit.MICROSECONDS).body());
        } catch (TimeoutException e) {
            sent.cancel(true);
            Arrived come = arrival.soFar();
            return come == null ? new Observation.Declined("left") : left(read(operation, come));
        } catch (ExecutionException | CancellationException e) {
            return new Observation.Failed(e.toString());
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            return new Observation.Declined("interrupted");
        }
    }

    private static Observation left(Observation seen) {
        return seen instanceof Observation.Cut(Observation.Read come, boolean _)
                ? new Observation.Cut(come, true)
                : seen;
    }

    private static Observation described(Arrived answer) {
        Observation refusal = refusal(answer);
        return refusal != null
                ? refusal
                : new Observation.Described(answer.header("etag"), markOf(answer),
                        Long.parseLong(answer.header("content-length")));
    }

    private Observation describedByChannel(Operation operation) {
        Answer answer = await(peers.of(operation)
                .send(Request.head(0, operation.bucket(), operation.key())));
        if (answer == null) {
            return new Observation.Failed("no answer");
        }
        return answer.isSuccess()
                ? new Observation.Described(answer.etag(),
                        Long.parseLong(answer.headers().getOrDefault(ReferenceStore.MARK, "0")),
                        answer.objectSize())
                : refused(answer);
    }

    private static Observation listed(Arrived answer) {
        Observation failure = failure(answer);
        if (failure != null) {
            return failure;
        }
        Map<String, String> etags = new HashMap<>();
        Matcher matcher = LISTED.matcher(new String(answer.body(), StandardCharsets.UTF_8));
        while (matcher.find()) {
            etags.put(matcher.group(1), matcher.group(2));
        }
        return new Observation.Listed(etags);
    }

    private static Observation written(Arrived answer) {
        Observation failure = failure(answer);
        return failure != null
                ? failure
                : new Observation.Written(answer.header(ACKNOWLEDGED));
    }

    private Observation wrong(Operation operation) {
        Arrived answer = send(operation, "PUT", bytes(operation),
                ReferenceStore.MARK, Long.toString(operation.mark()), "x-amz-checksum-crc32",
                Base64.getEncoder().encodeToString(new byte[]{1, 2, 3, 4}));
        boolean stored = store.history(store.place(operation))
                .stream()
                .anyMatch(version -> version.mark() == operation.mark());
        if (stored || answer.status() < 300) {
            return new Observation.Wrong("I2: stored in spite of its checksum");
        }
        return answer.status() == 400
                ? new Observation.Declined("checksum")
                : written(answer);
    }

    private Observation writtenByToken(Operation operation) {
        byte[] bytes = bytes(operation);
        if (bytes.length == 0) {
            return new Observation.Declined("no token names nothing");
        }
        peers.of(operation).set(ModelPeers.offset(operation), bytes);
        Arrived answer = send(operation, "PUT", new byte[0], peers.of(operation)
                .headers(ModelPeers.offset(operation), bytes.length, mark(operation)));
        return answer.status() == 501
                ? new Observation.Declined("501")
                : written(answer);
    }

    private Observation writtenByChannel(Operation operation) {
        byte[] bytes = bytes(operation);
        TestPeer peer = peers.of(operation);
        peer.set(ModelPeers.offset(operation), bytes);
        Answer answer = await(peer.send(Request.put(0, operation.bucket(), operation.key(),
                peer.key(), ModelPeers.offset(operation), bytes.length,
                Map.of(ReferenceStore.MARK, Long.toString(operation.mark())))));
        if (answer == null) {
            return new Observation.Failed("no answer");
        }
        return answer.isSuccess()
                ? new Observation.Written(answer.headers().getOrDefault(ACKNOWLEDGED, ""))
                : refused(answer);
    }

    private Observation inParts(Operation operation) {
        Arrived begun = send(operation, "POST", operation.path() + "?uploads", new byte[0],
                mark(operation));
        Matcher upload = UPLOAD.matcher(new String(begun.body(), StandardCharsets.UTF_8));
        if (!upload.find()) {
            return written(begun) instanceof Observation.Written
                    ? new Observation.Failed("no upload id")
                    : written(begun);
        }
        byte[] bytes = bytes(operation);
        // The gateway that keeps an upload itself takes small parts only as the last.
        int parts = upload.group(1).startsWith(AT_DISK) ? 1 : 3;
        int partBytes = bytes.length / parts + 1;
        StringBuilder list = new StringBuilder("<CompleteMultipartUpload>");
        for (int part = 0; part < parts; part++) {
            byte[] body = Arrays.copyOfRange(bytes, Math.min(bytes.length, part * partBytes),
                    Math.min(bytes.length, (part + 1) * partBytes));
            Arrived sent = send(operation, "PUT", operation.path() + "?partNumber=" + (part + 1)
                    + "&uploadId=" + upload.group(1), body);
            if (sent.status() != 200) {
                return gone(sent);
            }
            list.append("<Part><PartNumber>" + (part + 1) + "</PartNumber><ETag>"
                    + Content.etag(body) + "</ETag></Part>");
        }
        return gone(send(operation, "POST", operation.path() + "?uploadId=" + upload.group(1),
                list.append("</CompleteMultipartUpload>")
                        .toString()
                        .getBytes(StandardCharsets.UTF_8)));
    }

    /** Where an answer was lost the upload may have been completed: there is none any more. */
    private static Observation gone(Arrived answer) {
        return answer.status() == 404
                ? new Observation.Failed("no such upload")
                : written(answer);
    }
}
