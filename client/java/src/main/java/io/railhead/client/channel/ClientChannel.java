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
 * A peer's end of a proven channel: sends requests within its credits, the rest waiting their turn,
 * and gives out the answers. Any thread.
 *
 * <p> A buffer that a request names may be touched until its answer has come, or the channel has
 * ended and {@link #hasLetGo}. Answers come on whichever thread happens to read: what depends on
 * them must not block, and must not {@link #call}.
 *
 * <p> Who reads: a thread in {@link #call} reads for itself, and for others on the way, so that no
 * thread has to wake another; where one is at it already, or nobody waits in a call, the channel's
 * own thread reads, and sleeps where nothing is outstanding. It also keeps the session alive.
 *
 * <p> The end: only the gateway's own says that it has let go of all memory, since it closes last.
 * So who gives the channel up says BYE, and the reading thread reads on to the end, throwing away
 * what comes. Where no end comes in time the channel is broken off, and nobody knows what the
 * gateway still touches.
 *
 * <pre>
 *   OPEN ── mistake, no answer in time ──▶ given up ──┬── the gateway's end ──▶ ended, let go
 *     └─────────── leave: BYE ────────────────────────┴── none in time ───────▶ ended, held
 * </pre>
 *
 * <p> A long class: who reads, and what ends, is one protocol over the same few fields.
 */
public final class ClientChannel implements AutoCloseable {
    private static final Logger log = LoggerFactory.getLogger(ClientChannel.class);
    private static final long SPIN_NANOS = 50_000;
    /** So often in a keep-alive, the channel's own thread looks whether something was said. */
    private static final int LOOKS = 3;
    /** So long a gateway may take to let go, once the channel is given up. */
    private static final long END_NANOS = TimeUnit.SECONDS.toNanos(10);

    /** What is sent past the messages, as a descriptor is. */
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
    /** When it was; written before {@link #givenUp}. */
    private long givenUpAtNanos;
    /** Whether this end ended the connection: what is read then says nothing of the gateway's. */
    private volatile boolean brokenOff;
    private volatile boolean letGo;

    /** The turn to receive, and what only its holder touches. */
    private final ReentrantLock receiving = new ReentrantLock();
    private final ClientTransport.Sink sink = this::received;
    private final AdaptiveSpin spin = new AdaptiveSpin(SPIN_NANOS);
    private final List<Answer> answers = new ArrayList<>();
    private final List<PendingRequest> answered = new ArrayList<>();

    /**
     * @param ownedTransport on which the session has been proven
     * @param limits as WELCOME said them
     * @param name of the reading thread
     */
    public ClientChannel(ClientTransport ownedTransport, SessionLimits limits, String name) {
        this.transport = ownedTransport;
        this.limits = limits;
        this.outbox = new ClientOutbox(ownedTransport, limits.maxRequests());
        this.intervalNanos = Math.max(1,
                TimeUnit.MILLISECONDS.toNanos(limits.keepAliveMillis()) / LOOKS);
        this.reader = Thread.ofPlatform().name(name).daemon().unstarted(this::read);
    }

    /** Reads from now on. */
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
     * Whether the gateway has closed its end, so that it touches no memory any more. False until
     * then, and for ever where the channel ended without; of a transport whose own end stops the
     * gateway it says less than there is to know.
     */
    public boolean hasLetGo() {
        return letGo;
    }

    /** An id that no recent request has, for who does not number its own. */
    public int freshId() {
        return lastId.incrementAndGet();
    }

    /**
     * Sends a request as soon as there is a credit. The stage fails with
     * {@link ChannelEndedException}. Throws where the request's id is outstanding already, or the
     * request does not fit into a message.
     */
    public CompletionStage<Answer> send(Request request) {
        return outbox.sendAndLeave(List.of(request)).getFirst();
    }

    /** As {@link #send(Request)} for each, in as few messages as hold them. */
    public List<CompletionStage<Answer>> send(Collection<Request> requests) {
        return List.copyOf(outbox.sendAndLeave(requests));
    }

    /**
     * Sends a request and waits for its answer, with the least delay that there is. An interruption
     * does not end the wait, since the buffer is not the caller's before. Throws
     * {@link ChannelEndedException}, and as {@link #send(Request)}.
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
     * Says that the answer of an outstanding request is not wanted any more. It comes still, with
     * {@link Answer#CANCELLED} or as it would have.
     */
    public void cancel(int requestId) {
        PendingRequest unsent = outbox.cancel(requestId);
        if (unsent != null) {
            unsent.complete(Answer.declined(requestId, Answer.CANCELLED));
        }
    }

    /** Runs when the channel has ended, at once if it has: must not block. */
    public void onClosed(Runnable listener) {
        var _ = closed.thenRun(listener);
    }

    /** Why the gateway ended the channel; null if it has not, or did not say. */
    public @Nullable EndReason endReason() {
        return endReason;
    }

    /**
     * Says something that is no request, and waits for what is said to it. One caller at a time.
     * After a timeout and an interruption the channel is given up: nobody knows what the next
     * message answers.
     */
    public Message ask(Message message, long timeoutNanos) throws IOException {
        requireNotReading();
        return await(outbox.ask(message, false), timeoutNanos);
    }

    /** As {@link #ask}; what others say is kept back until {@link #resume}. */
    public Message askAndHold(Message message, long timeoutNanos) throws IOException {
        requireNotReading();
        return await(outbox.ask(message, true), timeoutNanos);
    }

    /** Sends what was kept back. */
    public void resume() {
        outbox.resume();
    }

    /** Sends something past the messages, then what was kept back, and waits for an answer. */
    public Message resume(Aside aside, long timeoutNanos) throws IOException {
        return await(outbox.resume(aside), timeoutNanos);
    }

    /**
     * Says BYE and waits, at most so long, until the gateway has let go of all memory:
     * {@link #hasLetGo}. An interruption does not end the wait.
     */
    public void leave(long timeoutNanos) {
        outbox.tell(new Message.Bye());
        try {
            // A join, since an interruption does not end that.
            closed.copy().orTimeout(timeoutNanos, TimeUnit.NANOSECONDS).join();
        } catch (CompletionException _) {
            // The gateway is stuck: it hears of the end by the connection's.
        }
        close();
    }

    /** Goes away without a word, and without waiting for the gateway to let go. Idempotent. */
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
            // As the result says.
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

    /** Receives what is there, or waits for it: turning first, and then asleep. */
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
            // Those before one that nobody asked for are good.
            for (int i = 0; i < answered.size(); i++) {
                answered.get(i).complete(answers.get(i));
            }
            answers.clear();
            answered.clear();
        }
    }

    /** Hears nothing more but the end; says so even where all else is held back. */
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

    /** Whoever receives finds that nothing more will come. */
    private void end() {
        for (Awaited<?> awaited : outbox.end()) {
            boolean unknown = awaited instanceof PendingRequest pending && pending.sent
                    && pending.request.operation().isWrite();
            awaited.completeExceptionally(new ChannelEndedException(endReason, unknown));
        }
        closed.complete(null);
    }

    /** The reading thread's life. */
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
            // Nobody interrupts this thread to stop it: the outbox's end does.
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

    /** Nobody sends or receives any more: whoever comes finds the outbox ended. */
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
