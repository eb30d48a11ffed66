package io.railhead.gateway.channel;

import io.railhead.backend.BackendResponse;
import io.railhead.gateway.channel.ChannelCounts.Outcome;
import io.railhead.gateway.object.write.RdmaPut;
import io.railhead.protocol.channel.Answer;

/**
 * A PUT or UPLOAD_PART from the peer's memory, answered over its channel.
 *
 * @param bytes the window's length; all of them reach the store or the upload fails
 */
record ChannelPut(ChannelExchange exchange, long bytes) implements RdmaPut.Client {

    @Override
    public void received(BackendResponse answer) {
        exchange.answer(Outcome.STORED, Answer.stored(exchange.id(), bytes,
                ChannelHead.orEmpty(answer.headers().get("etag")),
                ChannelHead.orEmpty(answer.headers().get("x-amz-version-id")),
                AnswerTexts.headers(answer.headers())));
    }

    @Override
    public void refused(BackendResponse answer) {
        exchange.refuse(answer);
    }

    @Override
    public void broken(Throwable cause) {
        exchange.fail(cause);
    }
}
