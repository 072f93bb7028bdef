/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * What a language model's program does with its weights, on made-up ones of two layers: multiplication of a matrix and
 * a vector, normalisation by the root of the mean square, rotation by position, softmax, a gated unit; the token of the
 * greatest weight is the next one. For compilers that make vectors of it.
 */
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

enum { DIMENSION = 64, HIDDEN = 176, LAYERS = 2, HEADS = 4, HEAD = DIMENSION / HEADS, TOKENS = 96, STEPS = 24 };

struct layer {
    float query[DIMENSION][DIMENSION], key[DIMENSION][DIMENSION], value[DIMENSION][DIMENSION];
    float out[DIMENSION][DIMENSION], gate[HIDDEN][DIMENSION], up[HIDDEN][DIMENSION], down[DIMENSION][HIDDEN];
    float keys[STEPS][DIMENSION], values[STEPS][DIMENSION];
};
static struct layer layers[LAYERS];
static float embedding[TOKENS][DIMENSION];

static float drawn(void)
{
    static uint32_t state = 2463534242u;
    state ^= state << 13;
    state ^= state >> 17;
    state ^= state << 5;
    return (float)(int32_t)state * 0x1p-33f;
}

static void draw(void *into, size_t count)
{
    for (float *at = into; count > 0; count--)
        *at++ = drawn();
}

static void multiply(float *out, const float *matrix, const float *vector, int rows, int columns)
{
    for (int row = 0; row < rows; row++) {
        float sum = 0;
        for (int i = 0; i < columns; i++)
            sum += matrix[row * columns + i] * vector[i];
        out[row] = sum;
    }
}

static void normalise(float *out, const float *in)
{
    float squares = 0;
    for (int i = 0; i < DIMENSION; i++)
        squares += in[i] * in[i];
    const float scale = 1 / sqrtf(squares / DIMENSION + 1e-5f);
    for (int i = 0; i < DIMENSION; i++)
        out[i] = in[i] * scale;
}

static void rotate(float *vector, int position)
{
    for (int i = 0; i < DIMENSION; i += 2) {
        const float angle = (float)position * powf(10000, -(float)(i % HEAD) / HEAD);
        const float c = cosf(angle), s = sinf(angle), a = vector[i], b = vector[i + 1];
        vector[i] = a * c - b * s;
        vector[i + 1] = a * s + b * c;
    }
}

static void attend(float *out, const struct layer *l, const float *query, int position)
{
    for (int head = 0; head < HEADS; head++) {
        float score[STEPS], sum = 0;
        const int from = head * HEAD;
        for (int t = 0; t <= position; t++) {
            score[t] = 0;
            for (int i = 0; i < HEAD; i++)
                score[t] += query[from + i] * l->keys[t][from + i];
            score[t] = expf(score[t] / 4);
            sum += score[t];
        }
        for (int i = 0; i < HEAD; i++) {
            out[from + i] = 0;
            for (int t = 0; t <= position; t++)
                out[from + i] += score[t] / sum * l->values[t][from + i];
        }
    }
}

static void pass(struct layer *l, float *x, int position)
{
    float in[DIMENSION], query[DIMENSION], seen[DIMENSION], gate[HIDDEN], up[HIDDEN], added[DIMENSION];
    normalise(in, x);
    multiply(query, l->query[0], in, DIMENSION, DIMENSION);
    multiply(l->keys[position], l->key[0], in, DIMENSION, DIMENSION);
    multiply(l->values[position], l->value[0], in, DIMENSION, DIMENSION);
    rotate(query, position);
    rotate(l->keys[position], position);
    attend(seen, l, query, position);
    multiply(added, l->out[0], seen, DIMENSION, DIMENSION);
    for (int i = 0; i < DIMENSION; i++)
        x[i] += added[i];
    normalise(in, x);
    multiply(gate, l->gate[0], in, HIDDEN, DIMENSION);
    multiply(up, l->up[0], in, HIDDEN, DIMENSION);
    for (int i = 0; i < HIDDEN; i++)
        gate[i] = gate[i] / (1 + expf(-gate[i])) * up[i];
    multiply(added, l->down[0], gate, DIMENSION, HIDDEN);
    for (int i = 0; i < DIMENSION; i++)
        x[i] += added[i];
}

int main(void)
{
    int token = 1;
    draw(layers, sizeof layers / sizeof(float));
    draw(embedding, sizeof embedding / sizeof(float));
    for (int position = 0; position < STEPS; position++) {
        float x[DIMENSION], last[DIMENSION], weight[TOKENS];
        for (int i = 0; i < DIMENSION; i++)
            x[i] = embedding[token][i];
        for (int l = 0; l < LAYERS; l++)
            pass(&layers[l], x, position);
        normalise(last, x);
        multiply(weight, embedding[0], last, TOKENS, DIMENSION);
        for (int i = token = 0; i < TOKENS; i++)
            token = weight[i] > weight[token] ? i : token;
        printf("%d %a\n", token, weight[token]);
    }
    return 0;
}
