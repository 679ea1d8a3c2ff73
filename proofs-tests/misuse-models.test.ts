// Models that are not what they should be: folders, weights, vocabularies, adapters and reference files.
import { readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type Misuse, misuses, type Place, useStage } from './support/misuse.ts';
import { safetensorsFile } from './support/safetensors.ts';

const stage = useStage(true);
const WEIGHTS = 'model.safetensors';

/** Commands that read a model. */
const evaluate = (model: string, ...more: readonly string[]): string[] => [
  ...['evaluate', stage.data, '--model', model, ...more],
];
const train = (place: Place, model: string, ...more: readonly string[]): string[] => [
  ...['train', stage.data, '--model', model, '--out', place.path('out'), ...more],
];

/** A copy of the model without a file. */
function without(place: Place, name: string): string {
  const folder = place.copy(stage.model, 'copy');
  rmSync(join(folder, name));
  return folder;
}

/** A copy of the model whose config says otherwise. */
const config = (place: Place, change: (json: { text_config: object; vision_config: object }) => object): string =>
  place.model('config.json', (before) => JSON.stringify(change(JSON.parse(before.toString()) as never)));

/** Header, as an object, and body of safetensors. */
function parts(file: Buffer): {
  header: Record<string, { dtype: string; shape: number[]; data_offsets: [number, number] }>;
  body: Buffer;
} {
  const length = Number(file.readBigUInt64LE(0));
  return { header: JSON.parse(file.subarray(8, 8 + length).toString()) as never, body: file.subarray(8 + length) };
}

/** The file with another header. */
const headed =
  (change: (header: ReturnType<typeof parts>['header']) => void) =>
  (before: Buffer): Uint8Array => {
    const { header, body } = parts(before);
    change(header);
    return safetensorsFile(header, body);
  };

/** The file with a value of a tensor changed. */
const valued =
  (part: string, value: number) =>
  (before: Buffer): Uint8Array => {
    const { header, body } = parts(before);
    const name = Object.keys(header).find((key) => key.includes(part)) as string;
    const [at] = header[name].data_offsets;
    if (header[name].dtype === 'F64') body.writeDoubleLE(value, at);
    else body.writeFloatLE(value, at);
    return safetensorsFile(header, body);
  };

/** A copy of the run's adapter, a file of it changed. */
const adapter = (place: Place, name: string, change: (before: Buffer) => string | Uint8Array): string[] =>
  evaluate(stage.model, '--adapter', place.run(name, change));

const peft =
  (change: object) =>
  (before: Buffer): string =>
    JSON.stringify({ ...(JSON.parse(before.toString()) as object), ...change });

const FOLDERS: readonly Misuse[] = [
  {
    what: 'a model that is not there',
    words: (p) => evaluate(p.path('none')),
    says: /none: cannot be read, ENOENT.*; check the path/,
  },
  {
    what: 'a model that is a file',
    words: (p) => evaluate(p.file('model')),
    says: /model: not a folder; name the folder of the model/,
  },
  { what: 'a folder without config.json', words: (p) => train(p, without(p, 'config.json')), says: /config\.json/ },
  { what: 'a folder without weights', words: (p) => profileOf(without(p, WEIGHTS)), says: /model\.safetensors/ },
  { what: 'a folder without a vocabulary', words: (p) => train(p, without(p, 'vocab.json')), says: /vocab/ },
  {
    what: 'a config that is no JSON',
    words: (p) => evaluate(p.model('config.json', () => '{')),
    says: /config\.json: .*JSON/,
  },
  {
    what: 'a config of another kind',
    words: (p) => evaluate(config(p, (json) => ({ ...json, model_type: 'bert' }))),
    says: /config\.json: model_type: found "bert"; give a model of type "clip"/,
  },
  {
    what: 'sizes beyond all models',
    words: (p) =>
      train(
        p,
        config(p, (json) => ({ ...json, text_config: { ...json.text_config, hidden_size: 1e9 } })),
      ),
    says: /text_config\.hidden_size: found 1000000000; give/,
  },
  {
    what: 'sizes that are each possible and together are not',
    words: (p) => [
      'train',
      stage.data,
      '--from-scratch',
      join(
        config(p, (json) => ({
          ...json,
          vision_config: {
            ...json.vision_config,
            hidden_size: 16_384,
            intermediate_size: 65_536,
            num_hidden_layers: 256,
          },
        })),
        'config.json',
      ),
      '--out',
      p.path('out'),
    ],
    says: /config\.json: sizes: \d+ parameters, at most 4294967296 are taken; give smaller sizes/,
  },
  {
    what: 'a model of sixteen gigabytes in a file of none',
    words: (p) =>
      evaluate(
        config(p, (json) => ({
          ...json,
          text_config: { ...json.text_config, hidden_size: 8192, intermediate_size: 32_768, num_hidden_layers: 4 },
        })),
      ),
    says: /tensor "[^"]+": shape: found \[.*\], the model needs \[.*\]; is the config of another model/,
  },
  {
    what: 'sizes that are no numbers',
    words: (p) => evaluate(config(p, (json) => ({ ...json, projection_dim: '8' }))),
    says: /projection_dim: found "8"; give/,
  },
  {
    what: 'heads that do not divide the width',
    words: (p) =>
      evaluate(config(p, (json) => ({ ...json, text_config: { ...json.text_config, num_attention_heads: 3 } }))),
    says: /num_attention_heads: found 3; give a divisor of hidden_size 8/,
  },
  {
    what: 'a vocabulary that is no JSON',
    words: (p) => evaluate(p.model('vocab.json', () => '{"a": ')),
    says: /vocab\.json: .*JSON/,
  },
  {
    what: 'a vocabulary of texts',
    words: (p) => evaluate(p.model('vocab.json', () => '{"a": "b"}')),
    says: /vocab\.json: token "a": found "b"; give a whole number/,
  },
  {
    what: 'merges of words that are none',
    words: (p) => evaluate(p.model('merges.txt', () => '#version: 0.2\nxq zz yy\n')),
    says: /merges\.txt: line 2: found "xq zz yy"; give two symbols with a space between/,
  },
  {
    what: 'preprocessing that is none',
    words: (p) => evaluate(p.model('preprocessor_config.json', () => '{"size": -4}')),
    says: /preprocessor_config\.json: size: found -4; give a whole number in 1…4096/,
  },
];

const profileOf = (model: string): string[] => ['profile', model];

const TENSORS: readonly Misuse[] = [
  {
    what: 'weights that are cut off',
    words: (p) => profileOf(p.model(WEIGHTS, (before) => before.subarray(0, before.length - 100))),
    says: /model\.safetensors: .* bytes; is the file complete/,
  },
  {
    what: 'empty weights',
    words: (p) => profileOf(p.model(WEIGHTS, () => '')),
    says: /model\.safetensors: header: the file has 0 bytes; is it a complete/,
  },
  {
    what: 'a header longer than the file',
    words: (p) =>
      profileOf(p.model(WEIGHTS, (before) => safetensorsFile(parts(before).header, parts(before).body, 2n ** 62n))),
    says: /header: 4611686018427387904 bytes, the file has \d+ after the length; is the file complete/,
  },
  {
    what: 'a header that is no JSON',
    words: (p) => profileOf(p.model(WEIGHTS, () => safetensorsFile('{"a":', new Uint8Array(4)))),
    says: /model\.safetensors: header: .*JSON/,
  },
  {
    what: 'tensors that overlap',
    words: (p) =>
      evaluate(
        p.model(
          WEIGHTS,
          headed((header) => {
            const [first, second] = Object.values(header).filter(
              (one) => one.shape?.length === 1 && one.shape[0] === 8,
            );
            second.data_offsets = first.data_offsets;
          }),
        ),
      ),
    says: /data_offsets: (overlaps the tensor before it|leaves \d+ bytes).*; is the file damaged/,
  },
  {
    what: 'a tensor of another shape',
    words: (p) =>
      evaluate(
        p.model(
          WEIGHTS,
          headed((header) => {
            header['text_projection.weight'].shape = [4, 16];
          }),
        ),
      ),
    says: /tensor "text_projection\.weight": shape: found \[4, 16\], the model needs \[8, 8\]; is the config/,
  },
  {
    what: 'a shape of more numbers than bytes',
    words: (p) =>
      evaluate(
        p.model(
          WEIGHTS,
          headed((header) => {
            header['text_projection.weight'].shape = [2 ** 20, 2 ** 20];
          }),
        ),
      ),
    says: /tensor "text_projection\.weight": shape: .* bytes, data_offsets give 256; is the file damaged/,
  },
  {
    what: 'a tensor that is missing',
    words: (p) =>
      evaluate(
        p.model(
          WEIGHTS,
          headed((header) => {
            header.other = header['text_projection.weight'];
            delete header['text_projection.weight'];
          }),
        ),
      ),
    says: /tensor "text_projection\.weight": not among the \d+ there; is it the right model/,
  },
  {
    what: 'weights of whole numbers',
    words: (p) =>
      evaluate(
        p.model(
          WEIGHTS,
          headed((header) => {
            header['text_projection.weight'].dtype = 'I32';
          }),
        ),
      ),
    says: /dtype: found I32; weights are F32, F16, BF16 or F64/,
  },
  {
    what: 'NaN in weights',
    words: (p) => evaluate(p.model(WEIGHTS, valued('text_projection', NaN))),
    says: /model\.safetensors: tensor "text_projection\.weight": value 0 is NaN; are the weights damaged/,
  },
  {
    what: 'NaN in weights to train on',
    words: (p) => train(p, p.model(WEIGHTS, valued('fc1.weight', NaN))),
    says: /model\.safetensors: tensor ".*fc1\.weight": value 0 is NaN; are/,
  },
  {
    what: 'an infinity in weights to profile',
    words: (p) => profileOf(p.model(WEIGHTS, valued('token_embedding', Infinity))),
    says: /tensor ".*token_embedding\.weight": value 0 is Infinity; are the weights damaged/,
  },
  {
    what: 'NaN in trained parameters',
    words: (p) => ['score', p.run('theta.safetensors', valued('theta/', NaN)), '--validation', stage.data],
    says: /theta\.safetensors: tensor "theta\/.*": value 0 is NaN; are the weights damaged/,
  },
];

const ADAPTERS: readonly Misuse[] = [
  {
    what: 'an adapter that is not there',
    words: (p) => evaluate(stage.model, '--adapter', p.path('none')),
    says: /none: cannot be read/,
  },
  {
    what: 'an adapter without its config',
    words: () => evaluate(stage.model, '--adapter', stage.model),
    says: /adapter_config\.json/,
  },
  {
    what: 'an adapter of rank 0',
    words: (p) => adapter(p, 'adapter_config.json', peft({ r: 0 })),
    says: /adapter_config\.json: r: found 0; give/,
  },
  {
    what: 'an adapter of another rank than its tensors',
    words: (p) => adapter(p, 'adapter_config.json', peft({ r: 4 })),
    says: /shape: found \[1, 8\], the model needs \[4, 8\]/,
  },
  {
    what: 'an adapter of a kind that is not known',
    words: (p) => adapter(p, 'adapter_config.json', peft({ peft_type: 'IA3' })),
    says: /peft_type: found "IA3"; give "LORA"/,
  },
  {
    what: 'an adapter of another model',
    words: (p) => {
      const folder = p.copy(stage.run, 'copy');
      writeFileSync(
        join(folder, 'adapter_model.safetensors'),
        headed((header) => {
          for (const name of Object.keys(header).filter((key) => key.includes('layers.1'))) {
            header[name.replace('layers.1', 'layers.9')] = header[name];
            delete header[name];
          }
        })(readFileSync(join(folder, 'adapter_model.safetensors'))),
      );
      return evaluate(stage.model, '--adapter', folder);
    },
    says: /adapter_model\.safetensors: adapts "text_model\.encoder\.layers\.9\..*", which the model does not have; is it the adapter of another\?/,
  },
  {
    what: 'NaN in an adapter',
    words: (p) => adapter(p, 'adapter_model.safetensors', valued('lora_A', NaN)),
    says: /adapter_model\.safetensors: tensor ".*lora_A\.weight": value 0 is NaN; are/,
  },
  { what: 'modules that no CLIP has', words: (p) => train(p, stage.model, '--targets', 'query'), says: /query/ },
  {
    what: 'layers that the model has not',
    words: (p) => train(p, stage.model, '--text-layers', '7'),
    says: /--text-layers: found "7"; give all, none, last:2 or layers in 0…1/,
  },
  {
    what: 'nothing to adapt',
    words: (p) => train(p, stage.model, '--text-layers', 'none', '--vision-layers', 'none'),
    says: /lora: modules: found none; choose at least one target and layer/,
  },
  {
    what: 'layers of a profile that the model has not',
    words: () => [...profileOf(stage.model), '--vision-layers', '2-9'],
    says: /--vision-layers: found "2-9"; give all/,
  },
];

const REFERENCES: readonly Misuse[] = [
  {
    what: 'a problem that is not there',
    words: (p) => ['convex', p.path('none.json')],
    says: /none\.json: cannot be read, ENOENT/,
  },
  { what: 'a problem that is no JSON', words: (p) => ['convex', p.file('x.json', '{')], says: /x\.json: .*JSON.*; / },
  {
    what: 'a problem without pairs',
    words: (p) => ['convex', p.file('x.json', '{"kind":"convex"}')],
    says: /x\.json: temperature: found nothing; give a number > 0/,
  },
  {
    what: 'a reference of an unknown kind',
    words: (p) => ['conformance', p.file('x.json', '{"kind":"linear"}')],
    says: /x\.json: kind: found "linear"; give convex, clip, tokenizer or preprocess/,
  },
  {
    what: 'a folder of references without any',
    words: (p) => ['conformance', p.folder],
    says: /vectors\.json: cannot be read/,
  },
  {
    what: 'pictures of references that are not there',
    words: (p) => [
      'conformance',
      (p.file(
        'vectors.json',
        JSON.stringify({
          kind: 'preprocess',
          imageSize: 8,
          mean: [0, 0, 0],
          std: [1, 1, 1],
          cases: [{ file: 'none.png' }],
        }),
      ),
      p.folder),
    ],
    says: /none\.png: cannot be decoded, .*missing.*; replace the picture/,
  },
  {
    what: 'a reference of a model that is not there',
    words: (p) => ['conformance', (p.file('vectors.json', JSON.stringify({ kind: 'clip' })), p.folder)],
    says: /vectors\.json: lora: found nothing; give an object/,
  },
  {
    what: 'a vocabulary that is none',
    words: (p) => [
      'conformance',
      (p.file('vectors.json', JSON.stringify({ kind: 'tokenizer', cases: [] })), p.folder),
      '--vocabulary',
      p.file('x.txt', 'no merges'),
    ],
    says: /x\.txt.*; /,
  },
];

misuses('a folder of a model', stage, FOLDERS);
misuses('weights', stage, TENSORS);
misuses('an adapter', stage, ADAPTERS);
misuses('a reference file', stage, REFERENCES);
