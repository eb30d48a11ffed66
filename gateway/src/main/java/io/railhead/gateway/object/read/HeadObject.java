package io.railhead.gateway.object.read;

import io.railhead.backend.Headers;
import io.railhead.cache.ObjectMetadata;
import io.railhead.gateway.delivery.AnswerHead;
import io.railhead.gateway.delivery.CacheResult;
import io.railhead.gateway.delivery.ReadPlan;
import io.railhead.gateway.http.HttpExchange;
import io.railhead.gateway.http.Operation;
import io.railhead.gateway.relay.ForwardedHeaders;
import io.railhead.gateway.request.S3Request;
import io.vertx.core.http.HttpServerResponse;
import java.util.Locale;

/** HeadObject: relayed if the cache cannot judge the request. */
public final class HeadObject implements Operation {
    private final ReadServices services;

    public HeadObject(ReadServices services) {
        this.services = services;
    }

    @Override
    public void handle(HttpExchange httpExchange, S3Request request) {
        AnswerHead.requireSendableOverrides(request);
        boolean plain = ReadRules.isCacheable(request) && request.header("range") == null
                && request.header("if-match") == null;
        if (plain) {
            new ObjectHead(services, httpExchange, request,
                    new Told(services, httpExchange, request))
                    .start();
        } else {
            services.relay().handle(httpExchange, request);
        }
    }

    private record Told(ReadServices services, HttpExchange exchange, S3Request request)
            implements
                ObjectHead.Client {

        @Override
        public void found(ObjectMetadata metadata, CacheResult result) {
            ReadPlan whole = new ReadPlan(metadata, 0, metadata.version().sizeBytes(), 200);
            AnswerHead.write(exchange, request, whole, result).end();
        }

        /**
         * Passes the store's response on. A refusal is relayed again with the client's own headers:
         * the gateway's HEAD asks for checksums, which need more rights, and leaves out overrides.
         */
        @Override
        public void passed(int status, Headers headers) {
            if (status == 401 || status == 403 || ReadRules.hasOverride(request)) {
                services.relay().handle(exchange, request);
                return;
            }
            HttpServerResponse response = exchange.answer(status);
            ForwardedHeaders.toClient(headers, response);
            if (!AnswerHead.wantsChecksums(request)) {
                withoutChecksums(response);
            }
            response.putHeader("x-cache", "BYPASS");
            response.end();
        }

        /** Removes checksums: the gateway's HEAD always asks for them, this client did not. */
        private static void withoutChecksums(HttpServerResponse response) {
            response.headers()
                    .names()
                    .stream()
                    .filter(name -> name.toLowerCase(Locale.ROOT).startsWith("x-amz-checksum-"))
                    .toList()
                    .forEach(response.headers()::remove);
        }
    }
}
