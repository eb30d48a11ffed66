package io.railhead.gateway.admin;

import static io.railhead.gateway.RandomBytes.random;
import static org.assertj.core.api.Assertions.assertThat;

import ch.qos.logback.classic.Level;
import ch.qos.logback.classic.Logger;
import io.railhead.gateway.GatewayWithAdministrator;
import io.railhead.gateway.TestGateway;
import io.vertx.core.json.JsonObject;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.slf4j.LoggerFactory;

/** Administrators' calls. */
class AdminIT extends GatewayWithAdministrator {

    @Test
    void whatIsEvictedIsFetchedAnew() {
        putFive();
        call("warm", of("b", ""));
        long before = store.count("GET /b/set/a%200");
        assertThat(call("evict", JsonObject.of("bucket", "b", "key", "set/a 0")))
                .isEqualTo(JsonObject.of("objects", 1, "bytes", RUN));
        assertThat(trainer.get("/b/set/a%200").body()).isEqualTo(random(0, RUN));
        assertThat(store.count("GET /b/set/a%200")).isEqualTo(before + 1);
        assertThat(call("evict", of("b", "set/")).getLong("objects")).isEqualTo(5);
        assertThat(call("evict", of("b", "")).getLong("objects")).isEqualTo(1);
        assertThat(call("evict", of("b", ""))).isEqualTo(JsonObject.of("objects", 0, "bytes", 0));
        TestGateway.await(() -> gateway.memory().usedBytes() == 0);
    }

    @Test
    void pinsAreListedBoundedAndTakenAway() {
        putFive();
        call("warm", of("b", ""));
        JsonObject key = JsonObject.of("bucket", "b", "key", "set/a 0");
        long limit = call("pin", key).getLong("limit_bytes");
        assertThat(limit).isLessThan(16 << 20).isGreaterThan(14 << 20);
        call("pin", of("b", "set/"));
        JsonObject pins = call("pins", new JsonObject());
        assertThat(pins.getLong("pinned_bytes")).isEqualTo(5 * RUN + 4 * 4096);
        assertThat(pins.getJsonArray("pins")).containsExactly(
                JsonObject.of("objects", 1, "bytes", RUN, "bucket", "b", "key", "set/a 0"),
                JsonObject.of("objects", 5, "bytes", 5 * RUN + 4 * 4096, "bucket", "b", "prefix",
                        "set/"));
        trainer.put("/b/set/a%201", random(1, 10));
        assertThat(call("pins", new JsonObject()).getLong("pinned_bytes"))
                .isLessThan(5 * RUN);
        call("unpin", of("b", "set/"));
        assertThat(gateway.metric("railhead_pinned_bytes")).isEqualTo(RUN);
        assertThat(refused(post("unpin", of("b", "set/")), 404)).contains("There is no such pin");
        for (int i = 0; i < 16; i++) {
            store.put("/big/" + i, random(i, 1 << 20));
        }
        assertThat(call("warm", of("big", "")).getString("state")).isEqualTo("done");
        assertThat(refused(post("pin", of("big", "")), 409)).contains("cache.pin_limit");
        assertThat(gateway.metric("railhead_pinned_bytes")).isEqualTo(RUN);
    }

    @Test
    void aDrainedGatewayIsNotReadyAndServesOn() {
        putFive();
        assertThat(ready().statusCode()).isEqualTo(200);
        assertThat(call("drain", JsonObject.of("wait_seconds", 20))).isEqualTo(
                JsonObject.of("state", "done", "draining", true, "in_flight", 0));
        assertThat(ready().statusCode()).isEqualTo(503);
        assertThat(ready().body()).contains("an administrator asked");
        HttpResponse<byte[]> served = trainer.get("/b/other");
        assertThat(served.body()).isEqualTo(random(9, 100));
        assertThat(served.headers().firstValue("connection")).contains("close");
        assertThat(call("drain", JsonObject.of("undo", true)).getBoolean("draining")).isFalse();
        assertThat(ready().statusCode()).isEqualTo(200);
        assertThat(trainer.get("/b/other").headers().firstValue("connection")).isEmpty();
    }

    @Test
    void aDrainWaitsForWhatIsUnderWay() throws Exception {
        putFive();
        CountDownLatch asked = new CountDownLatch(1);
        CountDownLatch goOn = new CountDownLatch(1);
        store.fault((exchange, object) -> {
            asked.countDown();
            TestGateway.await(goOn);
            return false;
        });
        var reading = trainer.sendAsync("GET", "/b/other", new byte[0]);
        assertThat(asked.await(20, TimeUnit.SECONDS)).isTrue();
        assertThat(call("drain", JsonObject.of("wait_seconds", 1)).getString("state"))
                .isEqualTo("busy");
        goOn.countDown();
        assertThat(call("drain", JsonObject.of("wait_seconds", 20)).getString("state"))
                .isEqualTo("done");
        assertThat(reading.join().body()).isEqualTo(random(9, 100));
    }

    @Test
    void whoWaitsForADrainThatAnotherUndoesIsNotToldThatItIsDone() throws Exception {
        putFive();
        CountDownLatch goOn = new CountDownLatch(1);
        CountDownLatch asked = new CountDownLatch(1);
        store.fault((exchange, object) -> {
            asked.countDown();
            TestGateway.await(goOn);
            return false;
        });
        var reading = trainer.sendAsync("GET", "/b/other", new byte[0]);
        assertThat(asked.await(20, TimeUnit.SECONDS)).isTrue();
        var draining = CompletableFuture.supplyAsync(
                () -> call("drain", JsonObject.of("wait_seconds", 60)).getString("state"));
        TestGateway.await(() -> ready().statusCode() == 503);
        call("drain", JsonObject.of("undo", true));
        assertThat(draining.get(30, TimeUnit.SECONDS)).isEqualTo("undone");
        goOn.countDown();
        reading.join();
    }

    @Test
    void readinessSaysOfEachFabricWhetherItIsUsableAndWhyNot() {
        assertThat(ready().statusCode()).isEqualTo(200);
        assertThat(ready().body().lines()).startsWith("ok")
                .contains("fabric loopback is usable")
                .anyMatch(line -> line.startsWith("fabric verbs is unusable: "));
    }

    private HttpResponse<String> ready() {
        return HttpClient.newHttpClient()
                .sendAsync(HttpRequest.newBuilder(gateway.health().resolve("/readyz")).build(),
                        HttpResponse.BodyHandlers.ofString())
                .join();
    }

    @Test
    void logLevelsChangeForGoodOrForAWhile() {
        String name = "io.railhead.gateway.admin.AdminIT";
        Logger logger = (Logger) LoggerFactory.getLogger(name);
        JsonObject set = call("log-level", JsonObject.of("logger", name, "level", "DEBUG"));
        assertThat(logger.getLevel()).isEqualTo(Level.DEBUG);
        assertThat(set.getJsonArray("loggers"))
                .contains(JsonObject.of("logger", name, "level", "DEBUG"));
        JsonObject limited = call("log-level",
                JsonObject.of("logger", name, "level", "TRACE", "for_seconds", 1));
        assertThat(limited.encode()).contains("\"until\":");
        TestGateway.await(() -> logger.getLevel() == Level.DEBUG);
        assertThat(call("log-level", JsonObject.of("logger", name)).getString("level"))
                .isEqualTo("DEBUG");
        call("log-level", JsonObject.of("logger", name, "level", "INHERIT"));
        assertThat(logger.getLevel()).isNull();
        assertThat(call("log-level", new JsonObject()).encode()).contains("ROOT")
                .doesNotContain(name);
        for (JsonObject wrong : List.of(JsonObject.of("logger", name, "level", "LOUD"),
                JsonObject.of("logger", "ROOT", "level", "INHERIT"),
                JsonObject.of("logger", "a\nb", "level", "INFO"),
                JsonObject.of("level", "INFO"),
                JsonObject.of("logger", name, "level", "INFO", "for_seconds", 0))) {
            refused(post("log-level", wrong), 400);
        }
    }
}
