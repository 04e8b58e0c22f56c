// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
// The admission policy of deploy/kustomize/overlays/confined, evaluated: what evictd sends passes, and everything else that its
// rights allow does not. A check with a CEL library (@marcbachmann/cel-js), because the rig's API server has no policies; it is no
// replacement for a server that has.
// usage: policy.mjs POLICY.json DIRECTORY-OF-NODE-MODULES     exit status 1: it differs, and says how
import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { pathToFileURL } from 'node:url'

const require = createRequire(pathToFileURL(process.argv[3] + '/'))
const { Environment } = await import(pathToFileURL(require.resolve('@marcbachmann/cel-js')))
const { spec } = JSON.parse(readFileSync(process.argv[2]))
const cel = new Environment({ unlistedVariablesAreDyn: true, enableOptionalTypes: true })

// The first message that refuses the request, or an error, which refuses it, too (failurePolicy); null: it is accepted; undefined:
// the policy does not match.
function refusal(...of) {
    try { return evaluated(...of) } catch (error) { return `error: ${error.message.split('\n')[0]}` }
}
function evaluated(request, object, oldObject) {
    const scope = { request, object, oldObject, variables: {} }
    if (!spec.matchConditions.every(one => cel.evaluate(one.expression, scope))) return undefined
    for (const one of spec.variables) scope.variables[one.name] = cel.evaluate(one.expression, scope)
    for (const one of spec.validations) {
        if (cel.evaluate(one.expression, scope) !== true) return one.message
    }
    return null
}

const pod = {
    apiVersion: 'v1', kind: 'Pod',
    metadata: { name: 'web', namespace: 'shop', uid: 'u1', resourceVersion: '7', generation: 1n, labels: { app: 'web' },
        annotations: { theirs: '1' }, managedFields: [{ manager: 'kubelet' }] },
    spec: { nodeName: 'n1', containers: [{ name: 'main', image: 'a' }] },
    status: { phase: 'Running', hostIP: '10.0.0.1', hostIPs: [{ ip: '10.0.0.1' }], podIP: '10.1.0.2', podIPs: [{ ip: '10.1.0.2' }],
        qosClass: 'Burstable', containerStatuses: [{ name: 'main', ready: true }],
        conditions: [{ type: 'Ready', status: 'True' }, { type: 'PodScheduled', status: 'True' }] },
}
const node = {
    apiVersion: 'v1', kind: 'Node',
    metadata: { name: 'n1', uid: 'n', resourceVersion: '9', labels: { zone: 'a' }, annotations: { theirs: '1' } },
    spec: { podCIDR: '10.1.0.0/24', taints: [{ key: 'theirs', effect: 'NoExecute' }] },
    status: { phase: 'Running', capacity: { memory: '8Gi' }, addresses: [{ type: 'InternalIP', address: '10.0.0.1' }],
        images: [{ names: ['a'], sizeBytes: 5n }], volumesInUse: ['v'], volumesAttached: [{ name: 'v', devicePath: '/dev/x' }],
        config: { error: '' }, nodeInfo: { kubeletVersion: '1' }, conditions: [{ type: 'Ready', status: 'True' }] },
}
const bare = { apiVersion: 'v1', kind: 'Node', metadata: { name: 'n1' } }

const account = 'system:serviceaccount:evictd:evictd'
let failed = 0
function ask(resource, subResource, old, change, { user = account, on = 'n1' } = {}) {
    const extra = on ? { 'authentication.kubernetes.io/node-name': [on], 'authentication.kubernetes.io/pod-name': ['p'] } : {}
    const object = structuredClone(old)
    change(object)
    return refusal({ userInfo: { username: user, extra }, resource: { group: '', version: 'v1', resource }, subResource }, object, old)
}
function expect(what, want, got) {
    if (want === got || (want === 'refused' && typeof got === 'string' && !got.startsWith('error: '))) return
    failed = 1
    console.log(`    ${what}: ${got === null ? 'accepted' : got === undefined ? 'not confined' : got}`)
}
const passes = (what, ...request) => expect(what, null, ask(...request))
const refused = (what, ...request) => expect(what, 'refused', ask(...request))

// ---- what evictd sends

const evicted = o => {
    o.metadata.annotations['evictd.io/evicted'] = '2026 1'
    o.metadata.resourceVersion = '8'
    o.metadata.managedFields.push({ manager: 'evictd' })
    Object.assign(o.status, { phase: 'Failed', reason: 'Evicted', message: 'The node was low on resource: memory. ' })
    o.status.conditions.push({ type: 'DisruptionTarget', status: 'True', reason: 'TerminationByKubelet', observedGeneration: 1n })
}
const condition = { type: 'evictd.io/MemoryPressure', status: 'True', reason: 'EvictdHasInsufficientMemory' }
const taint = { key: 'evictd.io/memory-pressure', effect: 'NoSchedule' }
passes('an eviction', 'pods', 'status', pod, evicted)
const shown = structuredClone(pod)
evicted(shown)
passes('and another attempt', 'pods', 'status', shown, o => { o.metadata.annotations['evictd.io/evicted'] = '2026 2' })
passes('a deadline', 'pods', 'status', pod, o => { evicted(o); o.status.reason = 'DeadlineExceeded' })
passes('an eviction that is given up', 'pods', 'status', shown, o => { o.status.conditions[2].status = 'False' })
const plain = structuredClone(pod)
delete plain.metadata.annotations
passes('an eviction of a pod without annotations', 'pods', 'status', plain, o => { o.metadata.annotations = {}; evicted(o) })
passes('a condition', 'nodes', 'status', node, o => o.status.conditions.push(condition))
passes('a condition of a node without status', 'nodes', 'status', bare, o => { o.status = { conditions: [condition] } })
passes('a taint', 'nodes', '', node, o => o.spec.taints.push(taint))
passes('a taint of a node without spec', 'nodes', '', bare, o => { o.spec = { taints: [taint] } })
const short = structuredClone(node)
short.spec.taints.push(taint, { key: 'evictd.io/pid-pressure', effect: 'NoExecute' })
short.status.conditions.push(condition)
passes('removed taints', 'nodes', '', short, o => { o.spec.taints.length = 1 })
passes('the only taint removed', 'nodes', '', { ...bare, spec: { taints: [taint] } }, o => { delete o.spec.taints })
passes('a removed condition', 'nodes', 'status', short, o => { o.status.conditions.length = 1 })

// ---- what it may not

refused("another node's pod", 'pods', 'status', pod, evicted, { on: 'n2' })
refused('another node', 'nodes', '', node, o => o.spec.taints.push(taint), { on: 'n2' })
refused("another node's status", 'nodes', 'status', node, o => o.status.conditions.push(condition), { on: 'n2' })
refused('a token of no pod', 'pods', 'status', pod, evicted, { on: null })
refused('and a pod of no node', 'pods', 'status', { ...pod, spec: {} }, evicted, { on: null })
for (const [what, change] of Object.entries({
    'phase Succeeded': o => { o.status.phase = 'Succeeded' },
    'phase Failed for another reason': o => Object.assign(o.status, { phase: 'Failed', reason: 'Else' }),
    'a reason': o => { o.status.reason = 'Else' }, 'a message': o => { o.status.message = 'x' },
    'podIP': o => { o.status.podIP = '6.6.6.6' }, 'podIPs': o => { o.status.podIPs = [{ ip: '6.6.6.6' }] },
    'hostIP': o => { o.status.hostIP = '6.6.6.6' }, 'hostIPs': o => o.status.hostIPs.push({ ip: '6.6.6.6' }),
    'no hostIPs': o => { delete o.status.hostIPs },
    'qosClass': o => { o.status.qosClass = 'BestEffort' }, 'container statuses': o => { o.status.containerStatuses[0].ready = false },
    'a field to come': o => { o.status.tomorrow = 1n },
    'Ready': o => { o.status.conditions[0].status = 'False' }, 'a condition less': o => o.status.conditions.pop(),
    'another DisruptionTarget': o => o.status.conditions.push({ type: 'DisruptionTarget', status: 'True', reason: 'PreemptionByScheduler' }),
    'a label': o => { o.metadata.labels.app = 'x' }, 'an annotation': o => { o.metadata.annotations.theirs = '2' },
    'another annotation of evictd.io': o => { o.metadata.annotations['evictd.io/x'] = '' },
    'an annotation less': o => { delete o.metadata.annotations.theirs }, 'no annotations': o => { delete o.metadata.annotations },
    'an owner': o => { o.metadata.ownerReferences = [{ uid: 'x' }] }, 'a finalizer': o => { o.metadata.finalizers = ['x'] },
    'spec': o => { o.spec.containers[0].image = 'b' },
})) refused(`${what} of a pod`, 'pods', 'status', pod, change)
for (const [what, change] of Object.entries({
    'volumesInUse': o => { o.status.volumesInUse = [] }, 'volumesAttached': o => { o.status.volumesAttached[0].devicePath = '/' },
    'no volumesAttached': o => { delete o.status.volumesAttached }, 'images': o => o.status.images.push({ names: ['b'] }),
    'config': o => { o.status.config = {} }, 'phase': o => { o.status.phase = 'Terminated' },
    'capacity': o => { o.status.capacity.memory = '1Ti' }, 'addresses': o => { o.status.addresses[0].address = '6.6.6.6' },
    'allocatable': o => { o.status.allocatable = { memory: '1' } }, 'nodeInfo': o => { o.status.nodeInfo.kubeletVersion = '2' },
    'a field to come': o => { o.status.tomorrow = 1n }, 'Ready': o => { o.status.conditions[0].status = 'False' },
    'a label': o => { o.metadata.labels.zone = 'b' }, 'an annotation': o => { o.metadata.annotations.theirs = '2' },
    'an annotation of evictd.io': o => { o.metadata.annotations['evictd.io/x'] = '' },
    'a taint': o => o.spec.taints.push(taint),
})) refused(`${what} of a node's status`, 'nodes', 'status', node, change)
for (const [what, change] of Object.entries({
    'unschedulable': o => { o.spec.unschedulable = true }, 'podCIDR': o => { o.spec.podCIDR = '0.0.0.0/0' },
    'configSource': o => { o.spec.configSource = {} }, 'providerID': o => { o.spec.providerID = 'x' },
    'a foreign taint': o => o.spec.taints.push({ key: 'x', effect: 'NoSchedule' }), 'a foreign taint less': o => o.spec.taints.pop(),
    'no taints': o => { delete o.spec.taints }, 'NoExecute': o => o.spec.taints.push({ ...taint, effect: 'NoExecute' }),
    'a label': o => { o.metadata.labels.zone = 'b' }, 'labels': o => { delete o.metadata.labels },
    'an annotation': o => { delete o.metadata.annotations.theirs }, 'status': o => { o.status.capacity.memory = '1Ti' },
})) refused(`${what} of a node`, 'nodes', '', node, change)

// ---- whom it confines

for (const user of ['system:node:n1', 'admin', 'evictd', 'system:serviceaccount:evictd-cleanup:cleanup', 'system:serviceaccount:evictd:other', 'system:serviceaccount:kube-system:evictd'])
    expect(`a label, by ${user}`, undefined, ask('nodes', '', node, o => { o.metadata.labels = {} }, { user, on: null }))
process.exit(failed)
