// iceoryx as its manual has it: chunks are loaned, written and read in place; receivers poll, or sleep in a WaitSet.
//
// By default a subscriber's full queue (256 chunks) loses its oldest. Where nothing may be lost, the publisher blocks.
// Its daemon, iox-roudi, is started by the harness.
#include <unistd.h>

#include <cstdlib>
#include <string>

#include "iceoryx_hoofs/log/logmanager.hpp"
#include "iceoryx_posh/popo/untyped_publisher.hpp"
#include "iceoryx_posh/popo/untyped_subscriber.hpp"
#include "iceoryx_posh/popo/wait_set.hpp"
#include "iceoryx_posh/runtime/posh_runtime.hpp"
#include "transport_support.h"

namespace {
transport_run run;

iox::capro::ServiceDescription service() {
    return {{iox::cxx::TruncateToCapacity, "transport"}, {iox::cxx::TruncateToCapacity, run.options.channel},
            {iox::cxx::TruncateToCapacity, "events"}};
}

void sendEvent(void *context, uint64_t number, uint64_t sentAt) {
    auto &publisher = *static_cast<iox::popo::UntypedPublisher *>(context);
    publisher.loan(run.options.size)
        .and_then([&](auto &chunk) {
            transport_fill(chunk, run.options.size, number, sentAt);
            publisher.publish(chunk);
        })
        .or_else([](auto &) { transport_fail("loan", "no chunk is free"); });
}
void send() {
    iox::popo::PublisherOptions options;
    if (run.options.load == TRANSPORT_LOSSLESS)
        options.subscriberTooSlowPolicy = iox::popo::ConsumerTooSlowPolicy::WAIT_FOR_CONSUMER;
    iox::popo::UntypedPublisher publisher(service(), options);
    transport_send_all(&run, sendEvent, &publisher);
}

struct Receiver {
    iox::popo::UntypedSubscriber subscriber;
    iox::popo::WaitSet<1> waitSet;
    const void *taken = nullptr;

    explicit Receiver(const iox::popo::SubscriberOptions &options) : subscriber(service(), options) {
        waitSet.attachState(subscriber, iox::popo::SubscriberState::HAS_DATA).or_else([](auto) {
            transport_fail("WaitSet", "it does not take the subscriber");
        });
    }
    const void *next() {
        subscriber.take().and_then([this](const void *chunk) { taken = chunk; }).or_else([this](auto &) { taken = nullptr; });
        if (!taken && !run.options.spins) waitSet.timedWait(iox::units::Duration::fromMilliseconds(100));
        return taken;
    }
};
void receive() {
    iox::popo::SubscriberOptions options;
    if (run.options.load == TRANSPORT_LOSSLESS) options.queueFullPolicy = iox::popo::QueueFullPolicy::BLOCK_PRODUCER;
    Receiver receiver(options);
    transport_receive_all(
        &run, [](void *context) { return static_cast<Receiver *>(context)->next(); },
        [](void *context) {
            auto &receiver = *static_cast<Receiver *>(context);
            receiver.subscriber.release(receiver.taken);
        },
        &receiver);
}
}  // namespace

int main(int argc, char **argv) {
    run = transport_begin(argc, argv);
    iox::log::LogManager::GetLogManager().SetDefaultLogLevel(iox::log::LogLevel::kWarn);
    const std::string name = "transport-" + std::to_string(getpid());
    iox::runtime::PoshRuntime::initRuntime({iox::cxx::TruncateToCapacity, name});
    if (run.options.sends) send();
    else receive();
    return 0;
}
