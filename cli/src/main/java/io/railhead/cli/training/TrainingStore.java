package io.railhead.cli.training;

import io.vertx.core.Future;
import io.vertx.core.Vertx;
import io.vertx.core.buffer.Buffer;
import io.vertx.core.http.HttpMethod;
import io.vertx.core.http.HttpServer;
import io.vertx.core.http.HttpServerOptions;
import io.vertx.core.http.HttpServerRequest;
import io.vertx.core.http.HttpServerResponse;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * A stand-in for an S3 store: every key has zeros, writes are discarded, and signatures are
 * ignored. On a free port of the loopback address.
 */
final class TrainingStore implements AutoCloseable {
    static final int OBJECT_BYTES = 1 << 20;
    /** The start of the keys of objects of {@link #SMALL_BYTES}. */
    static final String SMALL = "small/";
    private static final int SMALL_BYTES = 4 << 10;
    private static final String ETAG = "\"d41d8cd98f00b204e9800998ecf8427e\"";
    private static final Pattern RANGE = Pattern.compile("bytes=(\\d+)-(\\d*)");

    private final Vertx vertx = Vertx.vertx();
    private final HttpServer server = done(vertx
            .createHttpServer(new HttpServerOptions().setHandle100ContinueAutomatically(true))
            .requestHandler(TrainingStore::answer)
            .listen(0, "127.0.0.1"));

    int port() {
        return server.actualPort();
    }

    private static void answer(HttpServerRequest request) {
        HttpServerResponse response = request.response().putHeader("ETag", ETAG);
        if (request.method().equals(HttpMethod.PUT)) {
            request.endHandler(_ -> response.end());
        } else if (request.getParam("list-type") != null) {
            response.putHeader("Content-Type", "application/xml").end("""
                    <ListBucketResult><IsTruncated>false</IsTruncated><Contents>\
                    <Key>object</Key><Size>%d</Size></Contents></ListBucketResult>\
                    """.formatted(OBJECT_BYTES));
        } else {
            object(request, response.putHeader("Last-Modified", "Sun, 22 Nov 2026 12:00:00 GMT"));
        }
    }

    private static void object(HttpServerRequest request, HttpServerResponse response) {
        int size = request.uri().contains('/' + SMALL) ? SMALL_BYTES : OBJECT_BYTES;
        int first = 0;
        int last = size - 1;
        String range = request.getHeader("Range");
        Matcher asked = RANGE.matcher(range == null ? "" : range);
        if (asked.matches()) {
            first = Integer.parseInt(asked.group(1));
            last = asked.group(2).isEmpty()
                    ? last
                    : Math.min(last, Integer.parseInt(asked.group(2)));
            response.setStatusCode(206)
                    .putHeader("Content-Range",
                            "bytes " + first + "-" + last + "/" + size);
        }
        int bytes = last - first + 1;
        response.putHeader("Content-Length", Integer.toString(bytes));
        if (request.method().equals(HttpMethod.HEAD)) {
            response.end();
        } else {
            response.end(Buffer.buffer(new byte[bytes]));
        }
    }

    private static <T> T done(Future<T> future) {
        return future.await();
    }

    @Override
    public void close() {
        done(vertx.close());
    }
}
