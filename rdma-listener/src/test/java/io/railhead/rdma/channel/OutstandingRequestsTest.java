package io.railhead.rdma.channel;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.railhead.protocol.channel.Answer;
import io.railhead.protocol.channel.RequestOperation;
import io.railhead.protocol.message.MessageException;
import java.util.HashMap;
import java.util.HashSet;
import java.util.Map;
import java.util.Random;
import java.util.Set;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class OutstandingRequestsTest {

    @ParameterizedTest
    @ValueSource(longs = {1, 2, 3, 4, 5})
    void aTableIsASetOfIds(long seed) throws MessageException {
        Random random = new Random(seed);
        OutstandingRequests table = new OutstandingRequests(50);
        Map<Integer, RequestOperation> model = new HashMap<>();
        Set<Integer> cancelled = new HashSet<>();
        for (int i = 0; i < 50_000; i++) {
            // Few ids, so that they collide and come again.
            int id = random.nextInt(80) << (seed % 2 == 0 ? 18 : 0);
            if (random.nextBoolean() && model.size() < 50 && !model.containsKey(id)) {
                table.add(id, RequestOperation.GET);
                model.put(id, RequestOperation.GET);
            } else {
                assertThat(table.remove(id)).isEqualTo(model.remove(id) != null);
                cancelled.remove(id);
            }
            assertThat(table.size()).isEqualTo(model.size());
            int other = random.nextInt(80) << (seed % 2 == 0 ? 18 : 0);
            assertThat(table.contains(other)).isEqualTo(model.containsKey(other));
            assertThat(table.tryCancel(other))
                    .isEqualTo(model.containsKey(other) && cancelled.add(other));
        }
    }

    @Test
    void creditsAndIdsAreHeldTo() throws MessageException {
        OutstandingRequests table = new OutstandingRequests(2);
        table.add(7, RequestOperation.GET);
        assertThatThrownBy(() -> table.add(7, RequestOperation.GET))
                .isInstanceOf(MessageException.class)
                .hasMessageContaining("in use");
        table.add(8, RequestOperation.PUT);
        assertThatThrownBy(() -> table.add(9, RequestOperation.GET))
                .isInstanceOf(MessageException.class)
                .hasMessageContaining("credits");
        assertThat(table.unserved("over")).containsExactly(Answer.declined(7, "over"));
    }
}
