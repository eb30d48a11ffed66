package io.railhead.client.channel;

import static java.nio.ByteOrder.LITTLE_ENDIAN;

import io.railhead.os.AdaptiveSpin;
import io.railhead.protocol.channel.Answer;
import io.railhead.protocol.channel.AnswerCodec;
import io.railhead.protocol.channel.EndedMessage;
import io.railhead.protocol.channel.Request;
import io.railhead.protocol.message.EndReason;
import io.railhead.protocol.message.Message;
import io.railhead.protocol.message.MessageCodec;
import io.railhead.protocol.message.MessageException;
import io.railhead.protocol.message.MessageHeader;
import io.railhead.protocol.message.SessionLimits;
import java.io.IOException;
import java.io.InterruptedIOException;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.ReentrantLock;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The client's end of a proven channel: sends requests within its credits, queues the others, and
 * completes their answers. Any thread.
 *
 * <p> The gateway may touch a request's buffer until the answer has come, or the channel has ended
 * and {@link #hasLetGo} is true. Answers complete on the thread that happens to read: dependents
 * must not block, and must not {@link #call}.
 *
 * <p> Reading: a thread in {@link #call} reads for itself, and meanwhile for others, so that no
 * thread must wake another. If another thread reads already, or no call waits, the channel's own
 * thread reads; it sleeps while nothing is outstanding. It also keeps the session alive.
 *
 * <p> The end: only the gateway's close shows that it has released all memory, since it closes
 * last. So a client that abandons the channel sends BYE, and the reading thread reads to the end
 * and discards what comes. If no end comes in time the connection is broken, and it is unknown what
 * the gateway still touches.
 *
 * <pre>
 *   OPEN ── mistake, no answer in time ──▶ given up ──┬── the gateway's end ──▶ ended, let go
 *     └─────────── leave: BYE ────────────────────────┴── none in time ───────▶ ended, held
 * </pre>
 *
 * <p> A long class: reading and ending are one protocol over the same few fields.
 */
public final class ClientChannel implements AutoCloseable {
    private static final Logger log = LoggerFactory.getLogger(ClientChannel.class);
    private static final long SPIN_NANOS = 50_000;
    /**
     * The number of checks in a keep-alive interval, by the channel's own thread, whether a message
     * was sent.
     */
    private static final int LOOKS = 3;
    /** The longest time that an abandoned gateway may take to release all memory. */
    private static final long END_NANOS = TimeUnit.SECONDS.toNanos(10);

    /** Sends something beside the messages, such as a descriptor. */
    @FunctionalInterface
    public interface Aside {
        void send() throws IOException;
    }

    private final ClientTransport transport;
    private final SessionLimits limits;
    private final ClientOutbox outbox;
    private final long intervalNanos;
    private final CompletableFuture<Void> closed = new CompletableFuture<>();
    private final AtomicInteger lastId = new AtomicInteger();
    private final Thread reader;
    private volatile @Nullable EndReason endReason;
    private volatile boolean givenUp;
    /** The time of abandonment; written before {@link #givenUp}. */
    private long givenUpAtNanos;
    /** True if this end broke the connection: its end then shows nothing about the gateway. */
    private volatile boolean brokenOff;
    private volatile boolean letGo;

    /** The right to receive, and the fields that only its holder touches. */
    private final ReentrantLock receiving = new ReentrantLock();
    private final ClientTransport.Sink sink = this::received;
    private final AdaptiveSpin spin = new AdaptiveSpin(SPIN_NANOS);
    private final List<Answer> answers = new ArrayList<>();
    private final List<PendingRequest> answered = new ArrayList<>();

    /**
     * @param ownedTransport a transport with a proven session
     * @param limits as in WELCOME
     * @param name the reading thread's name
     */
    public ClientChannel(ClientTransport ownedTransport, SessionLimits limits, String name) {
        this.transport = ownedTransport;
        this.limits = limits;
        this.outbox = new ClientOutbox(ownedTransport, limits.maxRequests());
        this.intervalNanos = Math.max(1,
                TimeUnit.MILLISECONDS.toNanos(limits.keepAliveMillis()) / LOOKS);
        this.reader = Thread.ofPlatform().name(name).daemon().unstarted(this::read);
    }

    /** Starts reading. */
    public ClientChannel start() {
        reader.start();
        return this;
    }

    public SessionLimits limits() {
        return limits;
    }

    public boolean isOpen() {
        return !givenUp && !closed.isDone();
    }

    /**
     * Returns whether the gateway has closed its end, so that it touches no memory any more. False
     * until then, and for ever if the channel ended otherwise. A transport whose own end stops the
     * gateway may know more.
     */
    public boolean hasLetGo() {
        return letGo;
    }

    /** Returns an id that no recent request has, for callers without ids of their own. */
    public int freshId() {
        return lastId.incrementAndGet();
    }

    /**
     * Sends a request as soon as there is a credit. The stage may fail with
     * {@link ChannelEndedException}. Throws if the request's id is outstanding already, or the
     * request does not fit into a message.
     */
    public CompletionStage<Answer> send(Request request) {
        return outbox.sendAndLeave(List.of(request)).getFirst();
    }

    /** Sends each request as {@link #send(Request)} does, in as few messages as possible. */
    public List<CompletionStage<Answer>> send(Collection<Request> requests) {
        return List.copyOf(outbox.sendAndLeave(requests));
    }

    /**
     * Sends a request and waits for its answer, with the least delay. An interruption does not end
     * the wait, since the buffer is still the gateway's. Throws {@link ChannelEndedException}, and
     * as {@link #send(Request)} does.
     */
    public Answer call(Request request) throws IOException {
        requireNotReading();
        PendingRequest pending = outbox.send(request);
        while (!pending.isDone()) {
            if (receiving.tryLock()) {
                receiveUntil(pending, Long.MAX_VALUE);
            } else {
                outbox.leave(pending);
                join(pending);
            }
        }
        return result(pending);
    }

    /**
     * Cancels an outstanding request. An answer still comes, with {@link Answer#CANCELLED} or as
     * usual.
     */
    public void cancel(int requestId) {
        PendingRequest unsent = outbox.cancel(requestId);
        if (unsent != null) {
            unsent.complete(Answer.declined(requestId, Answer.CANCELLED));
        }
    }

    /** Runs a listener at the channel's end, at once if it has ended: must not block. */
    public void onClosed(Runnable listener) {
        var _ = closed.thenRun(listener);
    }

    /**
     * Returns the gateway's reason for the end; null if it has not ended the channel, or gave none.
     */
    public @Nullable EndReason endReason() {
        return endReason;
    }

    /**
     * Sends a message that is no request, and waits for its response. One caller at a time. A
     * timeout or an interruption abandons the channel: the next response could belong to either
     * message.
     */
    public Message ask(Message message, long timeoutNanos) throws IOException {
        requireNotReading();
        return await(outbox.ask(message, false), timeoutNanos);
    }

    /** Sends a message as {@link #ask} does; other messages are held back until {@link #resume}. */
    public Message askAndHold(Message message, long timeoutNanos) throws IOException {
        requireNotReading();
        return await(outbox.ask(message, true), timeoutNanos);
    }

    /** Sends the messages that were held back. */
    public void resume() {
        outbox.resume();
    }

    /**
     * Sends something beside the messages, then the messages held back, and waits for a response.
     */
    public Message resume(Aside aside, long timeoutNanos) throws IOException {
        return await(outbox.resume(aside), timeoutNanos);
    }

    /**
     * Sends BYE and waits, at most so long, until the gateway has released all memory:
     * {@link #hasLetGo}. An interruption does not end the wait.
     */
    public void leave(long timeoutNanos) {
        outbox.tell(new Message.Bye());
        try {
            // A join, which an interruption does not end.
            closed.copy().orTimeout(timeoutNanos, TimeUnit.NANOSECONDS).join();
        } catch (CompletionException _) {
            // The gateway is stuck: it will see the connection's end.
        }
        close();
    }

    /**
     * Closes without a message, and without waiting for the gateway to release memory. Idempotent.
     */
    @Override
    public void close() {
        breakOff();
        if (Thread.currentThread().equals(reader)) {
            return;
        }
        boolean interrupted = false;
        while (reader.isAlive()) {
            try {
                reader.join();
            } catch (InterruptedException _) {
                interrupted = true;
            }
        }
        if (interrupted) {
            Thread.currentThread().interrupt();
        }
    }

    private void requireNotReading() {
        if (receiving.isHeldByCurrentThread()) {
            throw new IllegalStateException("what depends on an answer must not wait for another");
        }
    }

    private Message await(Awaited<Message> answer, long timeoutNanos) throws IOException {
        long deadline = System.nanoTime() + timeoutNanos;
        if (!answer.isDone() && receiving.tryLock()) {
            receiveUntil(answer, deadline);
        }
        outbox.leave(answer);
        try {
            return answer.get(Math.max(0, deadline - System.nanoTime()), TimeUnit.NANOSECONDS);
        } catch (InterruptedException e) {
            giveUp("interrupted");
            Thread.currentThread().interrupt();
            InterruptedIOException interrupted = new InterruptedIOException("interrupted");
            interrupted.initCause(e);
            throw interrupted;
        } catch (TimeoutException e) {
            giveUp("no answer in time");
            throw new IOException("the gateway did not answer in time", e);
        } catch (ExecutionException e) {
            throw new IOException("the connection broke", e.getCause());
        }
    }

    private static void join(PendingRequest pending) {
        try {
            pending.join();
        } catch (CompletionException _) {
            // The result is read below.
        }
    }

    private static Answer result(PendingRequest pending) throws IOException {
        if (!pending.isCompletedExceptionally()) {
            return pending.resultNow();
        }
        if (pending.exceptionNow() instanceof ChannelEndedException ended) {
            throw new ChannelEndedException(ended.reason(), ended.isOutcomeUnknown());
        }
        throw new IOException(pending.exceptionNow());
    }

    /** Ends the turn to receive, which the caller has. */
    private void receiveUntil(Awaited<?> awaited, long deadline) {
        try {
            long left = left(deadline);
            while (!awaited.isDone() && left > 0) {
                receive(Math.min(left, intervalNanos));
                left = left(deadline);
            }
        } finally {
            receiving.unlock();
            outbox.nudgeReader();
        }
    }

    private static long left(long deadline) {
        return deadline == Long.MAX_VALUE ? Long.MAX_VALUE : deadline - System.nanoTime();
    }

    /** Receives messages, or waits for one: spinning first, then asleep. */
    private void receive(long maxNanos) {
        try {
            int messages = transport.receive(sink);
            if (messages == 0) {
                messages = awaitSome(maxNanos);
            }
            if (messages < 0) {
                letGo = !brokenOff;
                end();
            }
        } catch (MessageException e) {
            giveUp(e.toString());
        } catch (IOException | RuntimeException | Error e) {
            log.info("channel broken: {}", e.toString());
            end();
        }
    }

    private int awaitSome(long maxNanos) throws IOException {
        long began = System.nanoTime();
        long allowance = spin.allowanceNanos();
        int messages = 0;
        while (messages == 0 && System.nanoTime() - began < allowance) {
            Thread.onSpinWait();
            messages = transport.receive(sink);
        }
        if (messages != 0) {
            spin.found();
            return messages;
        }
        spin.slept();
        transport.awaitMessage(maxNanos);
        return transport.receive(sink);
    }

    private void received(int type, ByteBuffer message, int payload, int end)
            throws MessageException {
        if (givenUp) {
            return;
        }
        switch (type) {
            case MessageHeader.ANSWERS -> {
                ByteBuffer records = message.duplicate()
                        .order(LITTLE_ENDIAN)
                        .limit(end)
                        .position(payload);
                while (records.hasRemaining()) {
                    answers.add(AnswerCodec.decode(records));
                }
                giveOut();
            }
            case MessageHeader.ENDED -> {
                EndedMessage last = EndedMessage.decode(
                        message.duplicate().limit(end).position(payload));
                endReason = last.reason();
                answers.addAll(last.answers());
                giveOut();
            }
            default -> {
                Message heard = MessageCodec.decode(type, message, payload);
                Awaited<Message> question = outbox.heard(heard);
                if (question != null) {
                    question.complete(heard);
                }
            }
        }
    }

    private void giveOut() throws MessageException {
        try {
            outbox.answered(answers, answered);
        } finally {
            // The answers before an unknown one are valid.
            for (int i = 0; i < answered.size(); i++) {
                answered.get(i).complete(answers.get(i));
            }
            answers.clear();
            answered.clear();
        }
    }

    /**
     * Abandons the channel: only its end is awaited. BYE is sent even while other messages are held
     * back.
     */
    private void giveUp(String why) {
        if (!givenUp) {
            log.info("channel given up: {}", why);
            givenUpAtNanos = System.nanoTime();
            givenUp = true;
            outbox.tell(new Message.Bye());
            outbox.resume();
        }
    }

    private void breakOff() {
        brokenOff = true;
        outbox.shutDown();
    }

    /** Ends the channel, once no further message can come. */
    private void end() {
        for (Awaited<?> awaited : outbox.end()) {
            boolean unknown = awaited instanceof PendingRequest pending && pending.sent
                    && pending.request.operation().isWrite();
            awaited.completeExceptionally(new ChannelEndedException(endReason, unknown));
        }
        closed.complete(null);
    }

    /** The loop of the reading thread. */
    private void read() {
        try {
            while (!outbox.isEnded()) {
                if (outbox.left() > 0) {
                    takeTurn();
                } else {
                    sleep();
                }
                if (!givenUp) {
                    outbox.keepAlive();
                } else if (System.nanoTime() - givenUpAtNanos > END_NANOS) {
                    breakOff();
                }
            }
        } catch (IOException | RuntimeException | Error e) {
            log.error("channel's reading thread", e);
        } finally {
            closeTransport();
        }
    }

    private void takeTurn() {
        boolean mine = false;
        try {
            mine = receiving.tryLock(intervalNanos, TimeUnit.NANOSECONDS);
        } catch (InterruptedException _) {
            // The outbox's end stops this thread, not an interruption.
        }
        if (!mine) {
            return;
        }
        try {
            long until = System.nanoTime() + intervalNanos;
            while (outbox.left() > 0 && !outbox.isEnded() && System.nanoTime() < until) {
                receive(intervalNanos);
            }
        } finally {
            receiving.unlock();
        }
    }

    private void sleep() throws IOException {
        outbox.setReaderIdle(true);
        boolean over = outbox.left() == 0 && transport.awaitEnd(intervalNanos);
        outbox.setReaderIdle(false);
        if (over) {
            receiving.lock();
            try {
                while (!outbox.isEnded()) {
                    receive(intervalNanos);
                }
            } finally {
                receiving.unlock();
            }
        }
    }

    /** Closes the transport, which no thread uses any more: later callers find the outbox ended. */
    private void closeTransport() {
        receiving.lock();
        try {
            end();
            transport.close();
        } finally {
            receiving.unlock();
        }
    }
}
