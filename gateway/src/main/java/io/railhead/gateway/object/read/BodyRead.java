package io.railhead.gateway.object.read;

import io.railhead.cache.FillException;
import io.railhead.cache.RangeReader;
import io.railhead.cache.memory.PageMemory.Pool;
import io.railhead.gateway.delivery.AnswerHead;
import io.railhead.gateway.delivery.CacheResult;
import io.railhead.gateway.delivery.HttpDelivery;
import io.railhead.gateway.delivery.ReadPlan;
import io.railhead.gateway.http.HttpExchange;
import io.railhead.gateway.relay.StoreErrors;
import io.railhead.protocol.token.Decline;
import io.vertx.core.http.HttpServerResponse;
import org.jspecify.annotations.Nullable;

/**
 * Delivers planned bytes in an HTTP body. Without a page to fill, the rest comes uncached; a body
 * that cannot be finished is cut. Event loop only.
 */
final class BodyRead {
    private final HttpExchange httpExchange;
    private final ReadContext scope;
    private final ReadPlan plan;
    private final CacheResult expected;
    private final String declined;
    private final ObjectRead read;

    /**
     * @param declined the reason why RDMA was requested and is not used; "" if it was not requested
     */
    BodyRead(HttpExchange httpExchange, ReadPlan plan, CacheResult expected, String declined,
            ObjectRead read) {
        this.httpExchange = httpExchange;
        this.scope = read.scope();
        this.plan = plan;
        this.expected = expected;
        this.declined = declined;
        this.read = read;
    }

    void start() {
        HttpDelivery delivery = new HttpDelivery(httpExchange, plan.length(),
                () -> head(scope.settled(expected)), this::broken);
        RangeReader reader = scope.reader(plan, Pool.CACHE, delivery);
        httpExchange.onClosed(reader::cancel);
        reader.start();
    }

    private HttpServerResponse head(CacheResult result) {
        scope.count(plan, result, "http");
        HttpServerResponse response = AnswerHead.write(httpExchange, scope.request(), plan,
                result);
        if (!declined.isEmpty()) {
            response.putHeader(Decline.REASON, declined);
        }
        return response;
    }

    private void broken(FillException cause, long atOffset, @Nullable HttpServerResponse response) {
        switch (cause.reason()) {
            case NO_MEMORY -> uncached(atOffset, response);
            case VERSION_CHANGED, NOT_FOUND, REFUSED -> {
                if (response == null) {
                    read.restart(cause);
                } else {
                    read.forget(cause);
                    httpExchange.cut("version");
                }
            }
            case BACKEND_ERROR -> {
                if (response == null) {
                    read.uncacheable();
                } else {
                    httpExchange.cut("backend");
                }
            }
            case BACKEND_FAILED, CORRUPT -> {
                if (response == null) {
                    httpExchange.fail(StoreErrors.of(cause));
                } else {
                    httpExchange.cut("backend");
                }
            }
        }
    }

    private void uncached(long atOffset, @Nullable HttpServerResponse response) {
        CacheResult result = expected == CacheResult.STALE ? expected : CacheResult.MISS;
        HttpServerResponse begun = response != null ? response : head(result);
        new UncachedBody(httpExchange, scope.request(), plan, begun).continueAt(atOffset);
    }
}
