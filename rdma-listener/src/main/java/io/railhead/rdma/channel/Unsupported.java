package io.railhead.rdma.channel;

import io.railhead.protocol.channel.Answer;
import io.railhead.protocol.channel.RequestView;

/** Declines every request. */
final class Unsupported implements RequestHandler {

    @Override
    public void handle(RequestView request, RequestChannel channel) {
        channel.answer(Answer.declined(request.id(), "unsupported"));
    }

    @Override
    public void cancel(int requestId, RequestChannel channel) {}

    @Override
    public void ended(RequestChannel channel) {}
}
