package io.railhead.gateway.channel;

import io.railhead.backend.BackendRequest;
import io.railhead.backend.BodyDrain;
import io.railhead.backend.ContentRange;
import io.railhead.backend.Headers;
import io.railhead.backend.Payload;
import io.railhead.cache.ObjectMetadata;
import io.railhead.gateway.channel.ChannelCounts.Outcome;
import io.railhead.gateway.delivery.CacheResult;
import io.railhead.gateway.fill.ObjectHeaders;
import io.railhead.gateway.object.read.ObjectHead;
import io.railhead.gateway.object.read.ReadRules;
import io.railhead.gateway.object.read.ReadServices;
import io.railhead.gateway.relay.StoreAnswers;
import io.railhead.gateway.relay.StoreErrors;
import io.railhead.gateway.request.S3Request;
import io.railhead.protocol.channel.Answer;
import io.railhead.protocol.channel.AnswerOrigin;
import java.util.LinkedHashMap;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** A HEAD over the native channel: an object's metadata, as lines of the response. */
record ChannelHead(ReadServices services, ChannelExchange exchange,
        S3Request request) implements ObjectHead.Client {

    void start() {
        boolean plain = ReadRules.isCacheable(request) && request.header("range") == null
                && request.header("if-match") == null;
        if (plain) {
            new ObjectHead(services, exchange, request, this).start();
        } else {
            ask();
        }
    }

    /** Asks the store about requests that the cache cannot judge. */
    private void ask() {
        request.store()
                .send(new BackendRequest("HEAD", request.objectTarget(), request.headers(),
                        new Payload.Empty(), request.caller(), null))
                .whenComplete(StoreAnswers.to(exchange, (answer, failure) -> {
                    if (failure != null) {
                        exchange.fail(StoreErrors.of(failure));
                    } else {
                        BodyDrain.discard(answer.body());
                        passed(answer.status(), answer.headers());
                    }
                }));
    }

    @Override
    public void found(ObjectMetadata metadata, CacheResult result) {
        Map<String, String> lines = new LinkedHashMap<>();
        ObjectHeaders.forEach(metadata, ObjectHeaders.Checksums.SHOWN,
                (name, value) -> AnswerTexts.keep(lines, name, value));
        exchange.answer(Outcome.DESCRIBED,
                Answer.described(exchange.id(), metadata.version().sizeBytes(),
                        AnswerTexts.lastModifiedMillis(metadata.headers().get("last-modified")),
                        metadata.version().etag(), metadata.version().versionId(), lines,
                        ChannelGet.wire(result)));
    }

    @Override
    public void passed(int status, Headers headers) {
        if (status < 200 || status >= 300) {
            exchange.refuse(status, new byte[0]);
            return;
        }
        exchange.answer(Outcome.DESCRIBED, Answer.described(exchange.id(), size(headers),
                AnswerTexts.lastModifiedMillis(headers.get("last-modified")),
                orEmpty(headers.get("etag")), orEmpty(headers.get("x-amz-version-id")),
                AnswerTexts.headers(headers), AnswerOrigin.NONE));
    }

    private static long size(Headers headers) {
        ContentRange range = ContentRange.tryParse(headers.get("content-range"));
        if (range != null) {
            return range.size();
        }
        String length = headers.get("content-length");
        return length == null ? 0 : Long.parseLong(length);
    }

    static String orEmpty(@Nullable String text) {
        return text == null ? "" : text;
    }
}
