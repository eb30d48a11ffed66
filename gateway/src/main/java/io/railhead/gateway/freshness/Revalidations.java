package io.railhead.gateway.freshness;

import io.railhead.gateway.authorization.AuthorizationKey;
import java.util.HashMap;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * Revalidations under way. Requests of one principal for one object share a probe, but a request
 * joins only a probe that is sent after its own arrival. While a probe is under way, later requests
 * wait together for the next one. Any thread.
 *
 * <p> Lock order: the stripe's lock is never held while a probe is sent or completed.
 */
public final class Revalidations {
    private static final int STRIPES = 64;

    private final Stripe[] stripes = new Stripe[STRIPES];

    public Revalidations() {
        for (int i = 0; i < STRIPES; i++) {
            stripes[i] = new Stripe();
        }
    }

    /**
     * The question that one probe answers.
     *
     * @param reads whether the object's bytes are wanted too, which may need a further permission
     */
    public record Question(AuthorizationKey grant, boolean reads) {}

    /** The probes under way for keys of one hash, guarded by the stripe's own monitor. */
    private static final class Stripe {
        private final Map<Question, Flight> flights = new HashMap<>();
    }

    /** One probe that was sent, and the next one that waits for its end. */
    private static final class Flight {
        private @Nullable CompletableFuture<Probe> next;
        private @Nullable Supplier<CompletionStage<Probe>> nextSender;
    }

    /**
     * Joins a probe that is sent after this call.
     *
     * @param sender sends the probe; called at most once, now or when the probe under way has ended
     */
    public CompletionStage<Probe> join(Question key, Supplier<CompletionStage<Probe>> sender) {
        Stripe stripe = stripes[Math.floorMod(key.hashCode(), STRIPES)];
        CompletableFuture<Probe> result;
        synchronized (stripe) {
            Flight flight = stripe.flights.get(key);
            if (flight != null) {
                if (flight.next == null) {
                    flight.next = new CompletableFuture<>();
                    flight.nextSender = sender;
                }
                return flight.next;
            }
            stripe.flights.put(key, new Flight());
            result = new CompletableFuture<>();
        }
        send(stripe, key, sender, result);
        return result;
    }

    private static void send(Stripe stripe, Question key, Supplier<CompletionStage<Probe>> sender,
            CompletableFuture<Probe> result) {
        CompletionStage<Probe> sent;
        try {
            sent = sender.get();
        } catch (RuntimeException | Error e) {
            sent = CompletableFuture.failedStage(e);
        }
        sent.whenComplete((probe, failure) -> {
            land(stripe, key);
            if (failure != null) {
                result.completeExceptionally(failure);
            } else {
                result.complete(probe);
            }
        });
    }

    private static void land(Stripe stripe, Question key) {
        CompletableFuture<Probe> next;
        Supplier<CompletionStage<Probe>> sender;
        synchronized (stripe) {
            Flight landed = stripe.flights.remove(key);
            if (landed == null || landed.next == null || landed.nextSender == null) {
                return;
            }
            next = landed.next;
            sender = landed.nextSender;
            stripe.flights.put(key, new Flight());
        }
        send(stripe, key, sender, next);
    }
}
