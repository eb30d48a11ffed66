package io.railhead.gateway.object.cacheonly;

import static java.nio.charset.StandardCharsets.UTF_8;

import io.railhead.cache.ObjectCache;
import io.railhead.gateway.authorization.AccessControl;
import io.railhead.gateway.http.HttpExchange;
import io.railhead.gateway.http.Operation;
import io.railhead.gateway.request.S3Request;
import io.railhead.gateway.s3.Query;
import io.vertx.core.buffer.Buffer;
import io.vertx.core.http.HttpServerResponse;
import java.util.Set;

/**
 * ListObjects and ListObjectsV2: of cache-only objects those that the caller may read. Other lists
 * are relayed. A list is made on a thread of its own, since it may look at every key.
 */
public final class CacheOnlyList implements Operation {
    private static final Set<String> PARAMETERS = Set.of("list-type", "prefix", "delimiter",
            "max-keys", "start-after", "continuation-token", "marker", "encoding-type",
            "fetch-owner", "x-id");

    private final ObjectCache cache;
    private final AccessControl access;
    private final Operation relay;

    public CacheOnlyList(ObjectCache cache, AccessControl access, Operation relay) {
        this.cache = cache;
        this.access = access;
        this.relay = relay;
    }

    @Override
    public void handle(HttpExchange httpExchange, S3Request request) {
        if (!request.route().rule().isCacheOnly() || !isList(request.query())) {
            relay.handle(httpExchange, request);
            return;
        }
        ListedKeys.Question question = ListedKeys.Question.of(request.query());
        httpExchange.attemptElsewhere(() -> {
            byte[] document = list(request, question);
            httpExchange.executor()
                    .execute(() -> httpExchange.goOn(() -> answer(httpExchange, document)));
        });
    }

    private static boolean isList(Query query) {
        return query.allNames(PARAMETERS::contains);
    }

    private byte[] list(S3Request request, ListedKeys.Question question) {
        String bucket = String.valueOf(request.address().bucket());
        ListedKeys listed = new ListedKeys(question);
        cache.cacheOnly()
                .visit(request.route().namespace(), bucket, question.firstKey(),
                        metadata -> listed.visit(metadata, key -> access.allows(request.asker(),
                                AccessControl.reading(bucket, key))));
        return listed.document(bucket).getBytes(UTF_8);
    }

    private static void answer(HttpExchange httpExchange, byte[] document) {
        if (httpExchange.isOver()) {
            return;
        }
        HttpServerResponse response = httpExchange.answer(200);
        response.putHeader("content-type", "application/xml");
        response.putHeader("content-length", Integer.toString(document.length));
        httpExchange.end(Buffer.buffer(document));
    }
}
