package io.railhead.rdma.channel;

/** Serves nothing. */
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
